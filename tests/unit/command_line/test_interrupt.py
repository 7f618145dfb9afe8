"""Ctrl-C finishes the file in hand and begins no other."""

from __future__ import annotations

import signal
from typing import NoReturn

import pytest

from io_idtech.command_line.interrupt import Interrupt, deferred_interrupt, immediate_interrupt


def test_the_work_stops_where_it_checks(capsys):
    stop = Interrupt("stopping after this file")
    stop.check()
    stop.handle(signal.SIGINT, None)
    assert "stopping after this file" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        stop.check()


def test_a_second_signal_does_not_wait():
    stop = Interrupt("")
    stop.handle(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        stop.handle(signal.SIGINT, None)


def test_a_second_signal_calls_the_function_that_ends_the_process_where_there_is_one():
    class EndedError(BaseException):
        pass

    def end() -> NoReturn:
        raise EndedError

    stop = Interrupt("")
    with stop.exiting_by(end):
        stop.handle(signal.SIGINT, None)
        with pytest.raises(EndedError):
            stop.handle(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        stop.handle(signal.SIGINT, None)


def test_without_a_notice_nothing_is_printed(capsys):
    Interrupt("").handle(signal.SIGINT, None)
    assert capsys.readouterr() == ("", "")


def test_the_handler_of_before_is_back_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupt() as stop:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            stop.check()
    assert signal.getsignal(signal.SIGINT) is before


def test_other_commands_stop_at_once_and_leave_the_handler_of_before():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), immediate_interrupt():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
