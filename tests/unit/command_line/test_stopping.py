"""Ctrl-C finishes the file in hand and begins no other."""

from __future__ import annotations

import signal

import pytest

from command_line.stopping import Stop, stoppable


def test_the_work_stops_where_it_checks(capsys):
    stop = Stop("stopping after this file")
    stop.check()
    stop.ask(signal.SIGINT, None)
    assert "stopping after this file" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        stop.check()


def test_a_second_signal_does_not_wait():
    stop = Stop("")
    stop.ask(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        stop.ask(signal.SIGINT, None)


def test_without_a_notice_nothing_is_printed(capsys):
    Stop("").ask(signal.SIGINT, None)
    assert capsys.readouterr() == ("", "")


def test_the_handler_of_before_is_back_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with stoppable() as stop:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            stop.check()
    assert signal.getsignal(signal.SIGINT) is before
