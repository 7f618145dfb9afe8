"""Whatever fails while files are written, the old files are intact and nothing else is left."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import needs
import pytest
from paths import HELPERS, ROOT

from io_idtech.io_common.files import new_file, write_file, write_files

WEEK_OF_WORK = b"a week of work"


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "model.md5mesh"
    path.write_bytes(WEEK_OF_WORK)
    return path


def fails_with(number, after=0):
    """A function of the system that fails, from its call number `after` on."""
    calls = []

    def fail(*_arguments, **_options):
        calls.append(1)
        if len(calls) > after:
            raise OSError(number, os.strerror(number), "a temporary name")

    return fail


def assert_refused(call, target, number):
    """The error names the file and the reason; the old file is there, alone."""
    before = sorted(target.parent.iterdir())
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        call()
    assert caught.value.errno == number
    assert caught.value.filename == str(target)
    assert sorted(target.parent.iterdir()) == before
    assert target.read_bytes() == WEEK_OF_WORK


def run(code, *arguments):
    """Runs Python in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_a_new_file_has_default_permissions(tmp_path):
    path, plain = tmp_path / "new", tmp_path / "plain"
    write_file(path, b"new")
    plain.write_bytes(b"plain")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode == plain.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [path, plain]


@needs.permissions_of_files
def test_a_replaced_file_keeps_its_permissions(target):
    target.chmod(0o640)
    write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


@needs.links
def test_a_link_stays_one_and_the_file_it_leads_to_is_written(target, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert list((tmp_path / "elsewhere").iterdir()) == [link]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_or_failing_disk_leaves_the_old_file(monkeypatch, target, number):
    monkeypatch.setattr(os, "fsync", fails_with(number))
    assert_refused(lambda: write_file(target, b"new"), target, number)


@needs.limits
def test_a_file_size_limit_leaves_the_old_file(target):
    done = run(
        """
        import errno, resource, signal, sys
        from io_idtech.io_common.files import write_file

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_file(sys.argv[1], bytes(100_000))
        except OSError as error:
            print(errno.errorcode[error.errno], error.filename)
        """,
        target,
    )
    assert done.stdout.split() == ["EFBIG", str(target)], done.stderr
    assert target.read_bytes() == WEEK_OF_WORK
    assert list(target.parent.iterdir()) == [target]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB, where this process may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk of its own can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_old_file(small_disk):
    target = small_disk / "model.md5mesh"
    write_file(target, WEEK_OF_WORK)
    assert_refused(lambda: write_file(target, bytes(100_000)), target, errno.ENOSPC)
    write_file(target, b"new")
    assert target.read_bytes() == b"new"


def test_a_small_file_is_named_when_not_a_byte_fits_on_the_disk(small_disk):
    target = small_disk / "model.md5mesh"
    write_file(target, WEEK_OF_WORK)
    fill(small_disk)
    assert_refused(lambda: write_file(target, b"new"), target, errno.ENOSPC)


def fill(disk):
    """Leaves no room for a byte; there are still names."""
    with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(1024))


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE])
def test_a_folder_that_cannot_be_written_is_an_error(monkeypatch, target, number):
    monkeypatch.setattr(os, "open", fails_with(number))
    assert_refused(lambda: write_file(target, b"new"), target, number)


@needs.proc
def test_a_folder_that_root_cannot_write_is_an_error():
    with pytest.raises(OSError, match="/proc/model") as caught:
        write_file("/proc/model.md2", b"new")
    assert caught.value.filename == "/proc/model.md2"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EBUSY, errno.ETXTBSY])
def test_a_file_in_use_is_left_as_it_was(monkeypatch, target, number):
    monkeypatch.setattr(os, "replace", fails_with(number))
    assert_refused(lambda: write_file(target, b"new"), target, number)


def test_a_write_protected_file_is_left_as_it_was(monkeypatch, target):
    target.chmod(0o444)
    # Root may do anything; the rest is asked like this.
    monkeypatch.setattr(os, "access", lambda path, _mode: path != target)
    assert_refused(lambda: write_file(target, b"new"), target, errno.EACCES)


def test_a_name_that_is_too_long_is_an_error(target):
    path = target.with_name("x" * 300)
    with pytest.raises(OSError, match="xxx") as caught:
        write_file(path, b"new")
    # Windows says that there is no such file.
    assert needs.IS_WINDOWS or caught.value.errno == errno.ENAMETOOLONG
    assert caught.value.filename == str(path)
    assert list(target.parent.iterdir()) == [target]


def test_the_longest_name_that_a_disk_takes(tmp_path):
    path = tmp_path / ("x" * 255)
    write_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_file(tmp_path / "none" / "model", b"new")
    assert caught.value.filename == str(tmp_path / "none" / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_same_name_is_left_as_it_was(tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path / "model", b"new")
    assert list((tmp_path / "model").iterdir()) == []
    assert list(tmp_path.iterdir()) == [tmp_path / "model"]


@needs.pipes
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PermissionError):
        write_file(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_an_interruption_leaves_the_old_file(monkeypatch, target):
    def interrupt(_file):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(target, b"new")
    assert target.read_bytes() == WEEK_OF_WORK
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_no_file_is_replaced_before_all_are_on_the_disk(monkeypatch, target, after):
    others = [target.with_name(name) for name in ("walk", "run")]
    others[0].write_bytes(b"old walk")
    monkeypatch.setattr(os, "fsync", fails_with(errno.ENOSPC, after))
    failing = [target, *others][after]
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as caught:
        write_files({target: b"new", others[0]: b"new", others[1]: b"new"})
    assert caught.value.filename == str(failing)
    assert target.read_bytes() == WEEK_OF_WORK
    assert others[0].read_bytes() == b"old walk"
    assert sorted(target.parent.iterdir()) == sorted([target, others[0]])


KILLED = """
    import os, signal, sys
    from io_idtech.io_common.files import write_file

    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    write_file(sys.argv[1], b"new")
"""


@needs.signals
def test_the_next_export_removes_only_the_temporary_files_of_a_killed_process(target):
    assert run(KILLED, target).returncode == -signal.SIGKILL
    assert target.read_bytes() == WEEK_OF_WORK
    (left,) = set(target.parent.iterdir()) - {target}
    assert left.name.startswith(".io_idtech-")
    mine = target.with_name(".mine.tmp")
    mine.write_bytes(b"mine")
    for path in (left, mine):
        os.utime(path, (time.time() - 7200,) * 2)
    write_file(target.with_name("other"), b"new")
    assert sorted(target.parent.iterdir()) == sorted([target, mine, target.with_name("other")])


def test_temporary_files_of_a_running_process_are_kept(target):
    writer = """
        import os, sys, time
        from io_idtech.io_common.files import write_file

        def replace(source, target):
            os.utime(source, (time.time() - 60,) * 2)
            print("waiting", flush=True)
            sys.stdin.readline()
            original(source, target)

        original, os.replace = os.replace, replace
        write_file(sys.argv[1], b"from the other")
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(writer), str(target)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "waiting\n"
        write_file(target, b"from here")
        assert target.read_bytes() == b"from here"
        other.communicate("go\n", timeout=600)
    assert other.returncode == 0
    assert target.read_bytes() == b"from the other"
    assert list(target.parent.iterdir()) == [target]


# Temporary files


def make_file(folder: Path) -> Path:
    path, file = new_file(folder)
    file.close()
    return path


def test_a_name_in_use_is_left_alone(tmp_path, monkeypatch):
    names = iter(["taken", "taken", "free"])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(names))
    for name in (".io_idtech-taken", ".io_idtech-taken.tmp"):
        (tmp_path / name).write_bytes(b"mine")
    made = make_file(tmp_path)
    assert made.name.removesuffix(".tmp") == ".io_idtech-free"
    assert {path.read_bytes() for path in tmp_path.iterdir() if path != made} == {b"mine"}


@pytest.mark.parametrize(("error", "most"), [(FileExistsError, 10), (PermissionError, 1)])
def test_few_names_are_tried_and_only_one_where_the_user_may_not_write(tmp_path, monkeypatch, error, most):
    tried = []

    def refuse(*_arguments, **_options):
        tried.append(1)
        raise error

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(error):
        make_file(tmp_path)
    assert len(tried) == most


@needs.permissions_of_files
def test_nobody_else_may_read_them(tmp_path):
    assert make_file(tmp_path).stat().st_mode & 0o077 == 0
