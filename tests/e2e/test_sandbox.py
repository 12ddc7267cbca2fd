from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from events.errors import IsolationError, NotFoundError, RefusedError, StorageError
from strategies.sandbox import bubblewrap, confined_run
from strategies.sandbox.confined_run import ConfinedCommand, SandboxPolicy, program, run, run_folder
from tests.confining import POLICY, WAYS, Pulse, confine_by, outcomes_of, run_python, without_anything
from tests.confining import workspace as new_workspace

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(params=WAYS)
def workspace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the folder that a command may write to, under each of the ways to confine it."""
    confine_by(request.param, monkeypatch)
    return new_workspace(tmp_path)


@pytest.fixture
def walked_often(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give that folder, its disk walked through twenty times a second, not twice."""
    often = "from strategies.sandbox import supervisor; supervisor._WALK_EVERY_S = 0.05; main()"
    monkeypatch.setattr(confined_run, "_LAUNCH", confined_run._LAUNCH.replace("main()", often))
    return workspace


@pytest.fixture(params=["bwrap", "namespaces"])
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give that folder under the ways that have namespaces."""
    confine_by(request.param, monkeypatch)
    return new_workspace(tmp_path)


def test_a_command_that_keeps_to_its_folder_runs_as_ever(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    with closing(sqlite3.connect(workspace.parent / "known.db")) as known:
        known.execute("create table t(a)")
    deeds = {
        "writes": "open('made', 'w').write('x')",
        "sees no variable that was not let through": (
            "seen = sorted({'SECRET_TOKEN'} & {*os.environ}), 'hunter2' in open('/proc/self/environ').read()"
        ),
        "reads a database outside": (
            "import sqlite3; seen = sqlite3.connect('../known.db').execute('select count(*) from t').fetchall()"
        ),
        "changes mode and times of its own": (
            "os.chmod('made', 0o640); os.utime('made', (5, 6)); os.fchmod(os.open('made', 0), 0o600)\n"
            "seen = oct(os.stat('made').st_mode), os.stat('made').st_mtime"
        ),
        "has threads and children": (
            "import threading; thread = threading.Thread(target=print); thread.start(); thread.join()\n"
            "seen = os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)[1])"
        ),
        "has many children, and signals when they end": (
            "code = 'i=0; while [ $i -lt 40 ]; do (true | true) || exit 1; i=$((i+1)); done'\n"
            "seen = os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', code], {}), 0)[1])"
        ),
        "has no powers, even where root runs it": (
            "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
            "seen = int(status['CapPrm'], 16), int(status['CapEff'], 16)"
        ),
    }
    outcomes, ran = outcomes_of(deeds, workspace)
    assert outcomes == {
        "writes": "done",
        "sees no variable that was not let through": ([], False),
        "reads a database outside": [(0,)],
        "changes mode and times of its own": ("0o100600", 6.0),
        "has threads and children": 0,
        "has many children, and signals when they end": 0,
        "has no powers, even where root runs it": (0, 0),
    }
    assert (ran.ended, ran.code, ran.attempts) == ("exited", 0, ())
    assert (workspace / "made").read_text() == "x"


WRITES = {
    "open": "open(there, 'w').write('x')",
    "for both": "os.open(there, os.O_RDWR)",
    "rename": "open('own', 'w'); os.rename('own', there)",
    "unlink": "os.unlink(there)",
    "link": "os.symlink(there, 'link'); open('link', 'a')",
    "truncate": "os.truncate(there, 0)",
    "chmod": "os.chmod(there, 0o777)",
    "chown": "os.chown(there, 1, 1)",
    "utime": "os.utime(there, (1, 1))",
    "chmod of what is open": "os.chmod(f'/proc/self/fd/{os.open(there, 0)}', 0o777)",
    "setxattr": "os.setxattr(there, 'user.a', b'1')",
    "below": "open('../' + os.path.basename(there), 'w')",
}
"""What changes a file that `there` names."""
BY_DESCRIPTOR = {
    "fchmod": "os.fchmod(os.open(there, 0), 0o777)",
    "futimens": "os.utime(os.open(there, 0), (1, 1))",
    "flags": "import fcntl; fcntl.ioctl(os.open(there, 0), 0x40086602, bytes([64, *bytes(7)]))",
}
"""The same, by a descriptor that may only read: where mounts refuse it, nothing is reported."""


def test_a_write_outside_is_stopped_and_reported(workspace: Path) -> None:
    above = workspace.parent
    files = {name: above / f"outside {name}" for name in (*WRITES, *BY_DESCRIPTOR)}
    for file in files.values():
        file.write_text("as it was")
        file.chmod(0o600)
    before = {name: file.stat() for name, file in files.items()}
    deeds = {name: f"there = {str(files[name])!r}; {deed}" for name, deed in (WRITES | BY_DESCRIPTOR).items()}
    deeds["mkdir"] = f"os.mkdir({str(above)!r} + '/made')"
    deeds["behind the root link of a process"] = "open('/proc/1/root/outside', 'w')"
    outcomes, ran = outcomes_of(deeds, workspace)
    assert outcomes == dict.fromkeys(deeds, "stopped")
    for name, file in files.items():
        now, then = file.stat(), before[name]
        assert (now.st_mode, now.st_mtime_ns, now.st_uid) == (then.st_mode, then.st_mtime_ns, then.st_uid), name
        assert file.read_text() == "as it was"
    reported = [attempt.removeprefix("tried to write ").removeprefix("/proc/1/root") for attempt in ran.attempts]
    by_descriptor = {"tried to change a file outside"}
    assert {*reported} - by_descriptor == {*(files[name].name for name in WRITES), "made", "/outside"}


def test_nothing_listens_to_a_command_without_network(workspace: Path) -> None:
    local = workspace.parent / "service"
    abstract = f"\0germline-{os.getpid()}-{workspace.parent.name}"
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        streams, datagrams = [server], []
        for name in (str(local), abstract):
            stream = stack.enter_context(socket.socket(socket.AF_UNIX))
            stream.bind(name)
            stream.listen()
            datagram = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            datagram.bind(f"{name}-datagrams")
            streams.append(stream)
            datagrams.append(datagram)
        port = server.getsockname()[1]
        begun = "import socket; s = socket.socket(socket.AF_UNIX"
        deeds = {
            "network": f"import socket; socket.create_connection(('127.0.0.1', {port}))",
            "pairs of streams are there": "import socket; socket.socketpair()",
        }
        for kind, name in (("a path", str(local)), ("an abstract name", abstract)):
            to = f"s.sendmsg([b'leak'], [], 0, {name + '-datagrams'!r})"
            deeds |= {
                f"a stream to {kind}": f"{begun}); s.connect({name!r})",
                f"datagrams to {kind}": f"{begun}, socket.SOCK_DGRAM); {to}",
                f"raw datagrams to {kind}": f"{begun}, socket.SOCK_RAW); {to}",
                f"a pair's datagrams to {kind}": (
                    f"import socket; s, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); {to}"
                ),
            }
        outcomes, ran = outcomes_of(deeds, workspace)
        for stream in streams:
            stream.setblocking(False)  # noqa: FBT003 - the signature is Python's
            with pytest.raises(BlockingIOError):
                stream.accept()
        for datagram in datagrams:
            datagram.setblocking(False)  # noqa: FBT003 - the same
            with pytest.raises(BlockingIOError):
                datagram.recv(4)
    assert outcomes == dict.fromkeys(deeds, "stopped") | {"pairs of streams are there": "done"}
    assert ran.attempts in {(f"tried to reach 127.0.0.1:{port}",), ("tried to open a network socket",)}


CALLS = """
import ctypes
from ctypes import c_long
library = ctypes.CDLL(None, use_errno=True)
def call(*words):
    result = library.syscall(*[c_long(word) if isinstance(word, int) else word for word in words])
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of these calls are those of x86-64")
def test_a_command_makes_no_namespaces_and_leaves_nothing_behind_in_memory(workspace: Path) -> None:
    new = {
        "user": 1 << 28,
        "mount": 1 << 17,
        "process": 1 << 29,
        "network": 1 << 30,
        "IPC": 1 << 27,
        "time": 1 << 7,
    }
    deeds = {f"leaves its {name} namespace": f"call(272, {flag})" for name, flag in new.items()}
    deeds |= {
        "makes a child in a namespace": "call(56, 0x10000011, 0, 0, 0, 0)",
        "makes one by the newer call": "call(435, 0, 0)",
        "enters a namespace": "call(308, os.open('/proc/self/ns/user', 0), 0)",
        "makes a file in memory without a name": "os.memfd_create('x')",
        "reads the keys of the user": "call(250, 0, -4, 0)",
        "makes semaphores": "call(64, 0, 5, 0o1600)",
        "makes a queue": "call(68, 0, 0o1600)",
        "limits another process": ("import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))"),
    }
    outcomes, ran = outcomes_of({name: f"{CALLS}\n{deed}" for name, deed in deeds.items()}, workspace)
    assert outcomes == dict.fromkeys(deeds, "stopped")
    assert (ran.ended, ran.code) == ("exited", 0)


def test_shared_memory_is_the_commands_own_and_small_or_none_at_all(workspace: Path) -> None:
    theirs = Path("/dev/shm") / f"germline-{os.getpid()}-{workspace.parent.name}"  # noqa: S108 - looked for inside
    theirs.write_text("theirs")
    deeds = {
        "files there": f"seen = os.path.exists({str(theirs)!r})",
        "a file": "open('/dev/shm/left-behind', 'w').write('x')",
        "100 MB": "with open('/dev/shm/large', 'wb') as file: [file.write(bytes(1 << 20)) for _ in range(100)]",
        "shared by number": f"{CALLS}\nseen = call(29, 0, 4096, 0o1600) >= 0",
        "a queue by name": f"{CALLS}\ncall(240, b'germline-queue', 0o102, 0o600, 0)",
    }
    try:
        outcomes, _ = outcomes_of(deeds, workspace)
    finally:
        theirs.unlink()
    left = Path("/dev/shm/left-behind"), Path("/dev/shm/large")  # noqa: S108 - what must not be there
    assert [place.exists() for place in left] == [False, False]
    assert outcomes in (
        {
            "files there": False,
            "a file": "done",
            "100 MB": "stopped",
            "shared by number": True,
            "a queue by name": "done",
        },
        {"files there": True} | dict.fromkeys([name for name in deeds if name != "files there"], "stopped"),
    )


def test_a_command_can_neither_end_its_supervisor_nor_report_on_itself(workspace: Path) -> None:
    code = (
        "import os, signal\n"
        "for pid in {os.getppid(), *map(int, filter(str.isdigit, os.listdir('/proc')))} - {os.getpid()}:\n"
        "    try: os.kill(pid, signal.SIGKILL if pid in (1, os.getppid()) else 0)\n    except OSError: pass\n"
        "for fd in range(3, 64):\n    try: os.write(fd, b\"('exited', ())\")\n    except OSError: pass\n"
        "print('still here')\nraise SystemExit(5)"
    )
    ran = run_python(code, workspace)
    assert (ran.ended, ran.stdout, ran.code) == ("exited", "still here\n", 5)


def test_attempts_are_reported_once_each_and_twenty_at_most(apart: Path) -> None:
    code = (
        "import socket\nfor port in (1, 1, *range(1, 31)):\n"
        "    try: socket.create_connection(('127.0.0.1', port))\n    except OSError: pass"
    )
    ran = run_python(code, apart)
    assert ran.attempts == tuple(f"tried to reach 127.0.0.1:{port}" for port in range(1, 21))


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


THREADS = """
import threading
threading.stack_size(65536)
for _ in range(100): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
OF_EACH = """
for _ in range(5):
    if os.fork() == 0: held = b"x" * 12_000_000; time.sleep(60)
"""
SHARED = """
import mmap
held = [mmap.mmap(-1, 12_000_000) for _ in range(5)]
for some in held: some.write(bytes(12_000_000))
"""
HOARDS = {
    "threads": (THREADS, SandboxPolicy(processes=3)),
    "memory of each": (OF_EACH, SandboxPolicy(memory_bytes=48_000_000)),
    "memory that is shared": (SHARED, SandboxPolicy(memory_bytes=48_000_000)),
    "files": ("for name in range(200): open(f'{name}', 'w')", SandboxPolicy(disk_files=100)),
    "disk": ("open('large', 'wb').write(b'x' * 2_000_000)", SandboxPolicy(disk_bytes=1_000_000)),
}


@pytest.mark.parametrize("what", HOARDS)
def test_what_takes_more_than_all_of_it_may_is_ended(walked_often: Path, what: str) -> None:
    code, policy = HOARDS[what]
    ran = run_python(f"import os, time\n{code}\ntime.sleep(60)", walked_often, policy=policy)
    assert ran.ended == {"threads": "processes", "files": "disk"}.get(what, what.partition(" ")[0]), ran.stderr


FULL = """
import os
free = os.statvfs
def full(place):
    there = free(place)
    marked = os.path.exists(f"{place}/full")
    return os.statvfs_result((there[0], 1, there[2], there[3], 1_000 if marked else 1 << 30, *there[5:]))
os.statvfs = full
"""


@pytest.mark.parametrize(
    ("takes", "ended"),
    [
        ("", "void"),
        ("open('large', 'wb').write(bytes(3_000_000))", "disk"),
    ],
    ids=["others", "the command"],
)
def test_a_full_disk_is_the_commands_doing_only_where_it_took_what_is_lacking(
    walked_often: Path, monkeypatch: pytest.MonkeyPatch, takes: str, ended: str
) -> None:
    monkeypatch.setattr(
        confined_run, "_LAUNCH", confined_run._LAUNCH.replace("import sys;", f"{FULL}\nimport sys;")
    )
    code = f"import os, time\nhere = os.getcwd()\n{takes}\nos.chdir(here); open('full', 'w'); time.sleep(60)"
    ran = run_python(code, walked_often, policy=SandboxPolicy(spare_bytes=1_000_000))
    assert ran.ended == ended


def test_a_command_does_not_start_on_a_full_disk(workspace: Path) -> None:
    left = os.statvfs(workspace)
    most = SandboxPolicy(spare_bytes=left.f_blocks * left.f_frsize + 1)
    ran = run_python("open('made', 'w')", workspace, policy=most)
    assert (ran.ended, (workspace / "made").exists()) == ("void", False)
    assert "the disk has no room" in ran.error


def test_output_memory_files_time_and_what_is_left_of_a_crash_have_limits(workspace: Path) -> None:
    policy = SandboxPolicy(
        output_bytes=100, memory_bytes=256 * 1024**2, file_bytes=10_000, open_files=48, spare_bytes=0
    )
    code = (
        "import resource as r\n"
        "try: open('large', 'wb').write(bytes(50_000))\nexcept OSError: pass\n"
        "try: bytearray(10**9)\nexcept MemoryError: print('no memory')\n"
        "machine = int(open('/proc/loadavg').read().split()[3].partition('/')[2])\n"
        "print(2_048 < r.getrlimit(r.RLIMIT_NPROC)[0] < machine + 10_000)\n"
        "print(*(r.getrlimit(n) for n in (r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_CPU)))\nprint('x' * 100_000)"
    )
    ran = run_python(code, workspace, policy=policy, limit_s=9.5)
    seconds = 10 * (os.cpu_count() or 1) + 1
    expected = f"no memory\nTrue\n(48, 48) (0, 0) ({seconds}, {seconds})\n"
    assert ran.stdout == expected + "x" * (100 - len(expected))
    assert (workspace / "large").stat().st_size == 10_000


def test_what_runs_past_its_limit_ends_with_all_that_it_started(workspace: Path) -> None:
    pulse = Pulse(workspace)
    code = "import os, time\nheld = open('pulse', 'w')\nif os.fork() == 0: os.setsid()\ntime.sleep(60)"
    ran = run_python(code, workspace, limit_s=0.25)
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


def test_a_program_that_cannot_be_run_is_reported(workspace: Path) -> None:
    command = ConfinedCommand(
        argv=("/nowhere/at/all",), cwd=workspace, root=workspace, writable=(workspace,), limit_s=5
    )
    ran = run(command, POLICY)
    assert ran.ended == "unstarted"
    assert "/nowhere/at/all" in ran.error


def test_when_germline_is_killed_the_command_ends_and_nothing_is_left(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulse = Pulse(workspace)
    monkeypatch.setattr("tempfile.tempdir", str(workspace.parent))
    code = "import time\nheld = open('pulse', 'w', buffering=1)\nheld.write('beat\\n')\ntime.sleep(60)"
    germline = os.fork()
    if germline == 0:
        try:
            with run_folder("trial-"):
                run_python(code, workspace)
        finally:
            os._exit(1)
    pulse.wait_for_beat()
    os.kill(germline, signal.SIGKILL)
    os.waitpid(germline, 0)
    pulse.wait_for_end()
    assert str(workspace) not in Path("/proc/self/mountinfo").read_text()
    with run_folder("trial-") as new:
        assert len([*new.parent.iterdir()]) == 2  # it might just be being made
    monkeypatch.setattr(confined_run, "_NEW_S", -1.0)
    with run_folder("trial-") as new, run_folder("trial-") as other:
        assert sorted(new.parent.iterdir()) == sorted([new, other])
    assert [*new.parent.iterdir()] == []


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


@pytest.mark.parametrize(
    ("broken", "ended", "error"),
    [
        ("supervisor.Watch._look = gone", "lost", "it could not be watched: [Errno 5] broken"),
        ("supervisor.Watch._look = lambda *_: os._exit(1)", "lost", ""),
        ("supervisor.start = lambda *_, **__: os._exit(1)", "void", "the confinement ended without a report"),
    ],
    ids=["an error while it watches", "its end", "its end before the command began"],
)
def test_a_confinement_that_breaks_is_lost_once_the_command_runs(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, broken: str, ended: str, error: str
) -> None:
    code = "import os\nfrom strategies.sandbox import supervisor\ndef gone(*_): raise OSError(5, 'broken')"
    start = confined_run._LAUNCH.replace("main()", f"\n{code}\n{broken}\nmain()")
    monkeypatch.setattr(confined_run, "_LAUNCH", start)
    pulse = Pulse(workspace)
    ran = run_python("import time; held = open('pulse', 'w'); time.sleep(60)", workspace)
    assert (ran.ended, ran.succeeded) == (ended, False)
    assert error in ran.error
    assert pulse.has_stopped()


def test_root_cannot_reach_disks_or_settings_of_the_kernel(apart: Path) -> None:
    deeds = {
        "devices": "seen = sorted(os.listdir('/dev'))",
        "settings": "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
        "memory": "open('/dev/core', 'rb').read(1)",
        "the node of a disk": "os.mknod('disk', 0o60600, os.makedev(7, 0))",
    }
    outcomes, _ = outcomes_of(deeds, apart)
    harmless = {"fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"}
    assert {*outcomes.pop("devices")} - {"core"} == {
        *harmless,
        "urandom",
        "zero",
    }  # bwrap links core to /proc/kcore
    assert outcomes == dict.fromkeys(outcomes, "stopped")


def test_what_is_hidden_cannot_be_read_and_what_lies_beside_it_can(workspace: Path) -> None:
    folder, beside = workspace.parent / "answers", workspace.parent / "beside"
    alone = workspace.parent / "alone"
    folder.mkdir()
    secret = folder / "secret"
    for place in (secret, alone):
        place.write_text("forty-two")
    beside.write_text("seen")
    deeds = {
        "beside": f"seen = open({str(beside)!r}).read()",
        "in a folder": f"seen = open({str(secret)!r}).read()",
        "a file": f"seen = open({str(alone)!r}).read() or 'nothing'",
        "through a link": f"os.symlink({str(secret)!r}, 'link'); open('link').read()",
    }
    outcomes, ran = outcomes_of(deeds, workspace, policy=SandboxPolicy(hidden=(secret, folder, alone)))
    assert outcomes.pop("a file") in {"nothing", "stopped"}
    assert outcomes == {"beside": "seen", "in a folder": "stopped", "through a link": "stopped"}
    assert ran.attempts == ()


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
