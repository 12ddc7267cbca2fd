from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from events.errors import IsolationError, NotFoundError, RefusedError, StorageError
from strategies.sandbox import bubblewrap, confined_run
from strategies.sandbox.confined_run import ConfinedCommand, SandboxPolicy, program, run, run_folder
from tests.confining import POLICY, WAYS, Pulse, confine_by, run_python, without_anything
from tests.confining import workspace as new_workspace

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(params=WAYS)
def workspace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder that a command may write to, under each of the ways to confine it."""
    confine_by(request.param, monkeypatch)
    return new_workspace(tmp_path)


@pytest.fixture(params=["bwrap", "namespaces"])
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give that folder under the ways that have namespaces."""
    confine_by(request.param, monkeypatch)
    return new_workspace(tmp_path)


def test_a_command_that_keeps_to_its_folder_runs_as_ever(workspace: Path) -> None:
    ran = run_python("open('made', 'w').write('x'); print('hello'); raise SystemExit(3)", workspace)
    assert (ran.ended, ran.code, ran.stdout, ran.attempts) == ("exited", 3, "hello\n", ())
    assert (workspace / "made").read_text() == "x"


def test_a_command_sees_no_variable_that_was_not_let_through(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    ran = run_python("import os; print(sorted(os.environ))", workspace)
    assert "SECRET_TOKEN" not in ran.stdout
    assert "hunter2" not in run_python("print(open('/proc/self/environ').read())", workspace).stdout


@pytest.mark.parametrize(
    "deed",
    [
        "open({there!r}, 'w').write('x')",
        "os.open({there!r}, os.O_RDWR)",
        "os.mkdir({there!r} + '.d')",
        "os.rename('own', {there!r})",
        "os.unlink({there!r})",
        "os.symlink({there!r}, 'link'); open('link', 'a')",
        "os.truncate({there!r}, 0)",
        "open('../outside', 'w')",
    ],
)
def test_a_write_outside_is_stopped_and_reported(workspace: Path, deed: str) -> None:
    outside = workspace.parent / "outside"
    outside.write_text("as it was")
    (workspace / "own").touch()
    code = f"import os\ntry:\n    {deed.format(there=str(outside))}\nexcept OSError:\n    print('stopped')"
    ran = run_python(code, workspace)
    assert ran.stdout == "stopped\n"
    assert outside.read_text() == "as it was"
    assert [attempt.removesuffix(".d") for attempt in ran.attempts] == ["tried to write outside"]


def test_attempts_are_reported_once_each_and_twenty_at_most(apart: Path) -> None:
    code = (
        "import socket\nfor port in (1, 1, *range(1, 31)):\n"
        "    try: socket.create_connection(('127.0.0.1', port))\n    except OSError: pass"
    )
    ran = run_python(code, apart)
    assert ran.attempts == tuple(f"tried to reach 127.0.0.1:{port}" for port in range(1, 21))


def test_modes_and_times_of_files_outside_stay_as_they_are(apart: Path) -> None:
    outside = apart.parent / "outside"
    outside.touch(mode=0o600)
    before = outside.stat()
    ran = run_python(f"import os; os.chmod({str(outside)!r}, 0o777)", apart)
    run_python(f"import os; os.utime({str(outside)!r}, (1, 1))", apart)
    assert (outside.stat().st_mode, outside.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert ran.attempts == ("tried to write outside",)


def test_a_database_outside_that_is_only_read_is_no_attempt(workspace: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", "import sqlite3; sqlite3.connect('known.db').execute('create table t(a)')"],
        cwd=workspace.parent,
        check=True,
    )
    code = "import sqlite3; print(sqlite3.connect('../known.db').execute('select count(*) from t').fetchall())"
    ran = run_python(code, workspace)
    assert (ran.stdout, ran.attempts) == ("[(0,)]\n", ())


def test_nothing_listens_to_a_command_without_network(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the signature is Python's
        port = server.getsockname()[1]
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}))\nexcept OSError: print('no')"
        ran = run_python(code, workspace)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert ran.stdout == "no\n"
    assert ran.attempts in {(f"tried to reach 127.0.0.1:{port}",), ("tried to open a network socket",)}


def test_a_command_cannot_speak_to_services_of_this_machine(workspace: Path) -> None:
    there = str(workspace.parent / "service")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(there)
        server.listen()
        server.setblocking(False)  # noqa: FBT003 - the signature is Python's
        code = (
            "import socket\ns = socket.socket(socket.AF_UNIX)\n"
            f"try:\n    s.connect({there!r})\nexcept OSError: print('no')"
        )
        ran = run_python(code, workspace)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert ran.stdout == "no\n"


@pytest.mark.parametrize(
    "begun",
    [
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_RAW)",
        "s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    ],
)
def test_a_datagram_reaches_no_service_of_this_machine(workspace: Path, begun: str) -> None:
    there = str(workspace.parent / "service")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(there)
        server.setblocking(False)  # noqa: FBT003 - the signature is Python's
        code = (
            f"import socket\ntry:\n    {begun}\n    s.sendmsg([b'leak'], [], 0, {there!r})\n"
            "except OSError: print('no')\nsocket.socketpair()"
        )
        ran = run_python(code, workspace)
        with pytest.raises(BlockingIOError):
            server.recv(4)
    assert (ran.stdout, ran.code) == ("no\n", 0)


def test_a_command_has_no_powers_even_where_root_runs_it(workspace: Path) -> None:
    code = (
        "import os\nstatus = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "print(status['CapPrm'].strip(), status['CapEff'].strip())\n"
        "try: os.mknod('disk', 0o60600, os.makedev(7, 0))\nexcept PermissionError: print('no')"
    )
    assert run_python(code, workspace).stdout == f"{'0' * 16} {'0' * 16}\nno\n"


def test_a_command_that_is_given_the_network_has_it(apart: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port})).sendall(b'hello')"
        argv = (sys.executable, "-c", code)
        command = ConfinedCommand(
            argv=argv, cwd=apart, root=apart.parent, writable=(apart,), limit_s=20, network=True
        )
        ran = run(command, POLICY)
        server.settimeout(5)
        with server.accept()[0] as connection:
            assert connection.recv(5) == b"hello"
    assert (ran.code, ran.attempts) == (0, ())


def test_too_many_processes_end_all_of_them(workspace: Path) -> None:
    pulse = Pulse(workspace)
    code = (
        "import os, time\nheld = open('pulse', 'w')\n"
        "for _ in range(150):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(60); os._exit(0)\n"
        "time.sleep(60)"
    )
    ran = run_python(code, workspace, policy=SandboxPolicy(processes=30))
    assert ran.ended == "processes"
    assert pulse.has_stopped()


def test_too_many_threads_end_the_command_as_processes_do(workspace: Path) -> None:
    code = (
        "import threading, time\nthreading.stack_size(65536)\n"
        "for _ in range(100): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "time.sleep(60)"
    )
    assert run_python(code, workspace, policy=SandboxPolicy(processes=3)).ended == "processes"


def test_a_command_ends_before_others_find_the_disk_full(workspace: Path) -> None:
    left = os.statvfs(workspace)
    most = SandboxPolicy(spare_bytes=left.f_blocks * left.f_frsize + 1)
    assert run_python("import time; time.sleep(60)", workspace, policy=most).ended == "disk"
    none = SandboxPolicy(spare_bytes=0)
    assert run_python("open('made', 'w').write('x')", workspace, policy=none).ended == "exited"


def test_what_runs_past_its_limit_ends_with_all_that_it_started(workspace: Path) -> None:
    pulse = Pulse(workspace)
    code = "import os, time\nheld = open('pulse', 'w')\nif os.fork() == 0: os.setsid()\ntime.sleep(60)"
    ran = run_python(code, workspace, limit_s=0.5)
    assert ran.ended == "limit"
    assert pulse.has_stopped()


def test_what_a_command_leaves_running_ends_with_it(workspace: Path) -> None:
    pulse = Pulse(workspace)
    code = (
        "import os, time\nheld = open('pulse', 'w')\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n    os._exit(0)\nos.wait()"
    )
    ran = run_python(code, workspace)
    assert (ran.ended, ran.code) == ("exited", 0)
    assert pulse.has_stopped()


def test_a_command_cannot_kill_its_supervisor(workspace: Path) -> None:
    code = (
        "import os, signal\n"
        "for pid in {os.getppid(), *map(int, filter(str.isdigit, os.listdir('/proc')))} - {os.getpid()}:\n"
        "    try: os.kill(pid, signal.SIGKILL if pid in (1, os.getppid()) else 0)\n    except OSError: pass\n"
        "print('still here')"
    )
    ran = run_python(code, workspace)
    assert (ran.ended, ran.stdout) == ("exited", "still here\n")


def test_a_command_cannot_report_on_itself(workspace: Path) -> None:
    code = (
        "import os\n"
        'for fd in range(3, 64):\n    try: os.write(fd, b\'{"ended": "exited", "missing": []}\')\n'
        "    except OSError: pass\n"
        "raise SystemExit(5)"
    )
    ran = run_python(code, workspace)
    assert (ran.ended, ran.code) == ("exited", 5)


def test_output_memory_files_time_and_what_is_left_of_a_crash_have_limits(workspace: Path) -> None:
    policy = SandboxPolicy(output_bytes=1_000, memory_bytes=256 * 1024**2, file_bytes=10_000)
    assert len(run_python("print('x' * 100_000)", workspace, policy=policy).stdout) == 1_000
    assert "MemoryError" in run_python("bytearray(10**9)", workspace, policy=policy).stderr
    run_python("open('large', 'wb').write(bytes(50_000))", workspace, policy=policy)
    assert (workspace / "large").stat().st_size == 10_000
    limits = (
        "import resource as r; print(*(r.getrlimit(n) for n in (r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_CPU)))"
    )
    few = SandboxPolicy(open_files=48)
    seconds = 2 * (os.cpu_count() or 1) + 1
    limits_inside = run_python(limits, workspace, policy=few, limit_s=1.5).stdout
    assert limits_inside == f"(48, 48) (0, 0) ({seconds}, {seconds})\n"


def test_a_program_that_cannot_be_run_is_reported(workspace: Path) -> None:
    command = ConfinedCommand(
        argv=("/nowhere/at/all",), cwd=workspace, root=workspace, writable=(workspace,), limit_s=5
    )
    ran = run(command, POLICY)
    assert ran.ended == "unstarted"
    assert "/nowhere/at/all" in ran.error


def test_when_germline_is_killed_the_command_ends(workspace: Path) -> None:
    pulse = Pulse(workspace)
    code = "import time\nheld = open('pulse', 'w', buffering=1)\nheld.write('beat\\n')\ntime.sleep(60)"
    script = (
        "from pathlib import Path\nfrom strategies.sandbox import confined_run\n"
        f"from tests.confining import run_python\nconfined_run._LAUNCH = {confined_run._LAUNCH!r}\n"
        f"confined_run.bubblewrap.working_bwrap = lambda: {bubblewrap.working_bwrap()!r}\n"
        f"run_python({code!r}, Path({str(workspace)!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT) as germline:
        pulse.wait_for_beat()
        os.kill(germline.pid, signal.SIGKILL)
    pulse.wait_for_end()


def test_root_cannot_reach_disks_or_settings_of_the_kernel(apart: Path) -> None:
    code = "import os; print(*sorted(os.listdir('/dev'))); open('/proc/sys/kernel/core_pattern', 'w')"
    ran = run_python(code, apart)
    harmless = {"fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"}
    assert set(ran.stdout.split()) - {"core"} == {*harmless, "urandom", "zero"}  # bwrap links core to /proc/kcore
    assert ran.code == 1
    assert run_python("open('/dev/core', 'rb').read(1)", apart).code == 1


def test_a_hidden_folder_is_empty(apart: Path) -> None:
    hidden = apart.parent / "graders"
    hidden.mkdir()
    (hidden / "answers.txt").touch()
    argv = (sys.executable, "-c", f"import os; print(os.listdir({str(hidden)!r}))")
    command = ConfinedCommand(
        argv=argv, cwd=apart, root=apart.parent, writable=(apart,), limit_s=20, hidden=(hidden,)
    )
    assert run(command, POLICY).stdout == "[]\n"


@pytest.mark.parametrize("is_file", [True, False], ids=["a file", "a folder"])
def test_what_is_hidden_cannot_be_read_and_what_lies_beside_it_can(workspace: Path, *, is_file: bool) -> None:
    folder = workspace.parent / "answers"
    folder.mkdir()
    secret, beside = folder / "secret", workspace.parent / "beside"
    secret.write_text("forty-two")
    beside.write_text("seen")
    code = (
        f"print(open({str(beside)!r}).read())\n"
        f"try: print(open({str(secret)!r}).read() or 'no')\nexcept OSError: print('no')\n"
        "open('made', 'w').write('x')"
    )
    policy = SandboxPolicy(hidden=(secret,) if is_file else (secret, folder))
    ran = run_python(code, workspace, policy=policy)
    assert (ran.stdout, ran.code, ran.attempts) == ("seen\nno\n", 0, ())


@pytest.mark.parametrize("way", WAYS)
def test_a_command_reads_nothing_of_other_runs(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    confine_by(way, monkeypatch)
    with run_folder("look-") as sibling, run_folder("trial-") as own:
        (sibling / "answer").write_text("forty-two")
        (own / "given").write_text("seen")
        (own / "workspace").mkdir()
        code = (
            "import os\nprint(open('../given').read())\n"
            f"try: print(open({str(sibling / 'answer')!r}).read())\nexcept OSError: print('no')\n"
            "open('made', 'w').write('x')\n"
            "try: open('../given', 'w')\nexcept OSError: print('read-only')"
        )
        ran = run_python(code, own / "workspace")
        assert (ran.stdout, ran.code) == ("seen\nno\nread-only\n", 0)
        assert (own / "workspace" / "made").read_text() == "x"


def test_a_command_runs_although_what_is_hidden_holds_germline_itself(apart: Path) -> None:
    policy = SandboxPolicy(hidden=(ROOT / "strategies",))
    code = f"import os; print(os.listdir({str(ROOT / 'strategies')!r}))"
    assert run_python(code, apart, policy=policy).stdout == "[]\n"


def test_a_folder_of_runs_that_somebody_else_made_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "theirs").mkdir()
    (tmp_path / f"germline-runs-{os.getuid()}").symlink_to("theirs")
    with pytest.raises(StorageError, match="another user"), run_folder("trial-"):
        pass


def test_a_bwrap_that_does_not_work_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    bubblewrap.working_bwrap.cache_clear()
    try:
        assert bubblewrap.working_bwrap() == ""
    finally:
        bubblewrap.working_bwrap.cache_clear()


def test_a_machine_that_cannot_isolate_runs_nothing_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_anything(monkeypatch)
    workspace = new_workspace(tmp_path)
    with pytest.raises(IsolationError) as refusal:
        run_python("open('made', 'w')", workspace)
    assert refusal.value.missing == ("files", "network", "processes", "watch")
    assert "allow_unisolated = true" in refusal.value.hint
    assert not (workspace / "made").exists()


def test_a_person_may_allow_to_run_without_isolation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_anything(monkeypatch)
    workspace = new_workspace(tmp_path)
    pulse = Pulse(workspace)
    code = "import os, time\nheld = open('pulse', 'w')\nif os.fork() == 0: os.setsid(); time.sleep(60)"
    ran = run_python(code, workspace, policy=SandboxPolicy(allow_unisolated=True))
    assert (ran.ended, ran.code, ran.missing) == ("exited", 0, ("files", "network", "processes", "watch"))
    assert pulse.has_stopped()


def test_the_confinement_starts_without_what_takes_long_to_load() -> None:
    heavy = ("collections", "contextlib", "dataclasses", "datetime", "enum", "functools", "json", "re", "typing")
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import strategies.sandbox.launcher; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"


def test_only_allowed_programs_are_found() -> None:
    assert program("python3", POLICY) == sys.executable
    with pytest.raises(RefusedError) as refusal:
        program("git", POLICY)
    assert 'commands = ["git"]' in refusal.value.hint
    with pytest.raises(NotFoundError):
        program("no-such-program", SandboxPolicy(commands=("no-such-program",)))
