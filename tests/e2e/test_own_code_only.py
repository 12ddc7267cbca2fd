"""Modules in the folder where somebody stands are never imported, by no process of ours (F20)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from strategies.sandbox.confined_run import ConfinedCommand, SandboxPolicy, run
from tests.command_lines import STEPS
from tests.e2e.test_serving import served
from tests.story import tell
from tests.terminal import Terminal
from tui.cli.commands.registry.completion_scripts import SCRIPTS
from tui.session.own_command import own_command

if TYPE_CHECKING:
    from collections.abc import Callable

PLANTED: Final = (
    *("tui/__init__.py", "events/__init__.py", "registry/__init__.py", "strategies/__init__.py", "json.py"),
    *("sitecustomize.py", "usercustomize.py", "socket.py", "selectors.py", "pickle.py", "signal.py", "typing.py"),
    *(
        "multiprocessing/__init__.py",
        "typer.py",
        "pydantic.py",
        "textual.py",
        "distributed.py",
        "re.py",
        "germline.py",
    ),
)
SCRIPT: Final = Path(sys.executable).parent / "germline"
DEEDS: Final = ("init", "--help", "doctor", "trust --list", "verify", "status")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Give a folder full of modules that leave a mark where they are run, and a `germline` of its own."""
    folder, mark = tmp_path / "clone", tmp_path / "mark"
    for name in PLANTED:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"open({str(mark)!r}, 'a').write(__file__)\nraise SystemExit(66)\n")
    package = folder / "evil-1.0.dist-info"  # one that would bring readers and claims, were it installed
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    points = "[germline.readers]\nevil = germline:x\n[germline.claims]\nevil = germline:x\n"
    (package / "entry_points.txt").write_text(points)
    for name in ("germline", "python", "python3"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
        (folder / name).chmod(0o755)
    for number in range(2):
        (folder / f"{number}.jsonl").write_text(STEPS)
    return folder


def environment(**more: str) -> dict[str, str]:
    left_out = {"PYTHONPATH", "PYTHONSAFEPATH"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | more


def ran(trap: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = environment(HOME=str(trap.parent), **more)
    return subprocess.run(words, cwd=trap, env=env, capture_output=True, text=True, check=False, timeout=120)


def untouched(trap: Path) -> bool:
    return not (trap.parent / "mark").exists()


def test_the_trap_catches_a_process_that_looks_where_it_stands(trap: Path) -> None:
    ran(trap, sys.executable, "-m", "tui.cli.main", "--version")
    assert not untouched(trap)


@pytest.mark.skipif(not SCRIPT.is_file(), reason="germline is not installed beside this Python")
def test_the_installed_command_and_its_own_start_run_none_of_it(trap: Path) -> None:
    """How it starts decides where it looks, what it does which modules it looks for: each start, each deed."""
    begun = trap.parent / "start.py"
    begun.write_text(f"from tui.cli.main import main\nfor words in {DEEDS!r}:\n    main(words.split())\n")
    done = ran(trap, sys.executable, str(begun))
    assert done.returncode == 0, done
    assert "Usage" in done.stdout
    assert "trust-project" in done.stderr + done.stdout
    for start, commands in (((str(SCRIPT),), ("--version", "scan 0.jsonl")), (own_command(), ("scan 0.jsonl",))):
        for words in commands:
            done = ran(trap, *start, *words.split())
            assert done.returncode in {0, 2, 3}, done
    assert untouched(trap)


WORKERS: Final = """
import os, sys
from tui.cli.main import main
main(["--version"]); main(["config", "--json"])
os.chdir(sys.argv[1])
import strategies.engines.engine as engine
engine._WORTH_BYTES = 0
sys.exit(main(["scan", "0.jsonl", "1.jsonl", *sys.argv[2:], "--json"]))
"""


@pytest.mark.parametrize("more", [(), ("--engine", "dask")])
def test_processes_that_share_work_run_none_of_it(trap: Path, more: tuple[str, ...]) -> None:
    if more:
        pytest.importorskip("distributed")
    start = trap.parent / "start.py"
    start.write_text(f"if __name__ == '__main__':\n    {WORKERS.strip().replace(chr(10), chr(10) + '    ')}\n")
    Terminal(trap).does("init")
    done = ran(
        trap, sys.executable, str(start), str(trap), *more, GERMLINE_SCAN_WORKERS="2", GERMLINE_ENGINE_WORKERS="1"
    )
    assert (done.returncode, '"episodes": 3' in done.stdout) == (0, True), done
    assert untouched(trap)


def drawn(port: int, path: str) -> bytes:
    """Open a page as a browser does, and wait for the first bytes of the screens behind it."""
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    head = f"GET {path}ws?width=80&height=24 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as page:
        page.sendall(f"{head}Connection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n".encode())
        received = b""
        while b"\x1b[" not in received:  # what draws; a page that failed is closed without
            more = page.recv(65_536)
            assert more, received
            received += more
        return received


def test_pages_of_the_served_screens_run_none_of_it(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = tell(trap.parent)
    monkeypatch.chdir(trap)
    for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
        monkeypatch.delenv(name, raising=False)
    with served(story, own_command()) as (_, port, path):
        assert drawn(port, path)
    assert untouched(trap)


def test_the_confinement_of_commands_runs_none_of_it(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trap)
    command = ConfinedCommand(argv=("/bin/true",), cwd=trap, root=trap, writable=(), limit_s=30)
    assert run(command, SandboxPolicy(allow_unisolated=True)).succeeded
    assert untouched(trap)


def _bash(trap: Path) -> tuple[str, ...]:
    (trap.parent / "script").write_text(SCRIPTS["bash"])
    line = "COMP_LINE='./germline stat'; COMP_POINT=${#COMP_LINE}; _germline ./germline; echo \"${COMPREPLY[@]}\""
    return ("bash", "--norc", "-c", f". ../script; {line}")


@pytest.mark.parametrize("asked", [_bash])
def test_a_tab_in_that_folder_runs_none_of_it(trap: Path, asked: Callable[[Path], tuple[str, ...]]) -> None:
    done = ran(trap, *asked(trap), PATH=f"{trap}:{os.environ['PATH']}")
    assert done.stdout.split() == ["status"], done
    assert untouched(trap)
