"""The real command in a process of its own: what it loads, how it ends, and the demo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import pytest

from tests.command_lines import STEPS
from tests.forked import ForkedCommand
from tests.terminal import Terminal
from tui import __version__
from tui.cli.commands.registry.demo import program_name
from tui.cli.commands_table import GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent.parent
GERMLINE = [sys.executable, "-m", "tui.cli.main"]
LOADED = """
import sys, json
from tui.cli.main import main
before, ended = set(), []
for words in {commands!r}:
    code = main(words)
    ended.append([code, sorted(set(sys.modules) - before)])
    before.update(sys.modules)
sys.stderr.write("LOADED" + json.dumps(ended))
"""

ELSEWHERE = {
    *("anthropic", "httpx2", "opentelemetry"),  # asked once a model is
    *("psycopg", "nacl"),  # a registry on a server, signatures
    *("dask", "distributed", "tornado", "watchdog"),  # a cluster, a watcher
    "sqlite_utils",  # migrations
    "textual",
}
"""What a registry in a file is read and evolved without."""

LOOKS = {"rich", "pygments", "markdown_it"}

NEEDLESS = (
    *("asyncio", "concurrent", "logging", "ssl", "multiprocessing"),
    *("events.types.research_events", "events.types.training_events"),
    *("registry.decide.commands", "registry.skill_md.folder", "registry.evidence.gitleaks"),
    *("strategies.audit", "strategies.claims.catalogue", "strategies.gate.replay", "strategies.gate.stats"),
    *("strategies.episodes.step_marks", "strategies.logs.transcripts", "strategies.models.protocol"),
    *("strategies.logs.formats.mapped.log_mapping", "strategies.files.log_file"),
    *("strategies.policy.presets", "strategies.usage.line_usage", "strategies.signals.survey"),
    "tui.documents.registry_files",
)
"""What `log`, `show`, `why` and `status` print a small registry without: each took 3 to 60 ms of a core."""


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    (folder := own_folder / "start").mkdir()
    germline = Terminal(folder).with_skill()
    germline.write("logs/own.jsonl", STEPS)
    return germline


def loaded_by(words: Sequence[str], folder: Path) -> set[str]:
    """Run a command in a fresh interpreter, and return the modules that it left behind."""
    (modules,) = loaded_in_turn([words], folder)
    return modules


def loaded_in_turn(commands: Sequence[Sequence[str]], folder: Path) -> list[set[str]]:
    """Run commands in one fresh interpreter, and return the modules that each was the first to load."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(commands=[list(words) for words in commands])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GERMLINE_REGISTRY": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    ended = json.loads(done.stderr.partition("LOADED")[2])
    assert [code for code, _ in ended] == [0] * len(commands), done.stderr
    return [set(modules) for _, modules in ended]


def tops(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


READING = ("log", "show sql-analyst", "why sql-analyst:6", "status")
LEAN = (
    "--help",
    *READING,
    "search query",
    "evolve --help",
    "config",
    "doctor",
    "scan .",
    "evolve --dry-run",
    "advise",
    "judge show",
)


REPORT = "report -o report.html"


@pytest.fixture(scope="module")
def loaded_first(germline: Terminal) -> dict[str, set[str]]:
    """What each of these commands was the first to load, of one interpreter that ran them all, the report last."""
    commands = (*LEAN, REPORT)
    return dict(zip(commands, loaded_in_turn([words.split() for words in commands], germline.folder), strict=True))


@pytest.mark.parametrize("words", LEAN)
def test_no_command_loads_what_is_for_models_servers_clusters_and_screens(
    loaded_first: dict[str, set[str]], words: str
) -> None:
    assert not (ELSEWHERE | LOOKS - {"rich"}) & tops(loaded_first[words])
    assert "rich.console" not in loaded_first[words], "of rich, the width of texts alone"


@pytest.mark.parametrize("words", READING)
def test_reading_commands_load_nothing_of_gates_trainings_and_models(
    loaded_first: dict[str, set[str]], words: str
) -> None:
    assert not [name for name in loaded_first[words] if name.startswith(NEEDLESS)]


def test_a_report_is_written_without_screens_models_and_servers(
    loaded_first: dict[str, set[str]], germline: Terminal
) -> None:
    assert (germline.folder / "report.html").is_file()
    modules = set[str]().union(*loaded_first.values())
    assert "jinja2" in tops(modules)
    assert not ELSEWHERE & tops(modules)
    assert "tui.screens" not in modules


def test_the_version_is_told_before_typer_is_loaded(tmp_path: Path) -> None:
    modules = tops(loaded_by(["--version"], tmp_path))
    own = {"events", "registry", "strategies"}
    assert not (ELSEWHERE | LOOKS | own | {"typer", "pydantic", "sqlite3", "typing"}) & modules


def test_the_list_of_commands_loads_no_command(tmp_path: Path) -> None:
    own = {"registry", "strategies"}
    assert not (ELSEWHERE | LOOKS | own | {"pydantic", "sqlite3"}) & tops(loaded_by(["--help"], tmp_path))


@pytest.mark.parametrize("columns", ["50", "80", "120"])
def test_the_list_of_commands_names_each_once_below_what_it_is_for(tmp_path: Path, columns: str) -> None:
    listed = Terminal(tmp_path, COLUMNS=columns).does("--help").out
    sections = [listed.index(f"\n{title}:\n") for title in GROUPS]
    assert sections == sorted(sections)
    for commands, start, end in zip(GROUPS.values(), sections, [*sections[1:], len(listed)], strict=True):
        names = [
            line.split()[0] for line in listed[start:end].splitlines() if line[:3].strip() and line[:2] == "  "
        ]
        assert names == list(commands)


def test_the_real_command_answers_with_its_version_and_help(tmp_path: Path) -> None:
    def output_of(*words: str) -> str:
        return subprocess.run([*GERMLINE, *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert f"germline {__version__}\n" in output_of("--version")
    usage = output_of()
    assert "Usage: germline" in usage
    assert "evolve" in usage


def test_version_and_help_have_every_spelling(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    assert __version__ in germline.does("--quiet", "--version").out
    for words in (["--help"], ["-h"], []):
        output = germline.does(*words).out
        assert "Usage: germline" in output
        assert "evolve" in output
    assert "sql-analyst:7" in germline.does("why", "-h").out


def test_an_exit_code_leaves_the_process(tmp_path: Path) -> None:
    """Which code a command ends with is asked where its tests are; here, that it leaves the process."""
    (tmp_path / ".germline").mkdir()
    (tmp_path / ".germline/registry.db").write_bytes(b"x" * 4096)
    assert subprocess.run([*GERMLINE, "verify"], cwd=tmp_path, capture_output=True, check=False).returncode == 3


def test_debug_shows_where_a_plain_command_failed(germline: Terminal) -> None:
    answer = germline("--debug", "show", "nobody")
    assert answer.code == 2
    assert answer.err.startswith("Traceback")
    assert "no skill named nobody" in answer.err


def test_a_fault_of_ours_is_told_in_one_line_with_the_way_to_see_where(germline: Terminal) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by hand")

    with patch("tui.cli.commands.skills.log.open_library", fail):
        answer = germline("log")
    assert (answer.code, answer.err.splitlines()) == (
        1,
        ["error  germline itself failed: ZeroDivisionError: by hand", "hint   germline --debug … shows where"],
    )


def test_a_reader_that_leaves_early_is_no_failure_worth_a_traceback(germline: Terminal) -> None:
    with ForkedCommand(["log", "--json"], cwd=germline.folder) as reading:
        reading.stdout.close()
        assert reading.stderr.read() == ""
        reading.wait(timeout=30)


def test_ctrl_c_ends_with_130_and_one_line(tmp_path: Path) -> None:
    waiting = (
        "import sys, time; import tui.cli.typer_app as app; from tui.cli.main import main;"
        "app.run = lambda words: (sys.stdout.write('ready\\n'), sys.stdout.flush(), time.sleep(60));"
        "sys.exit(main(['status']))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", waiting],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=30)
    assert running.returncode == 130
    assert stderr.startswith("interrupted")
    assert stderr.count("\n") == 1


def test_the_pager_is_left_alone_where_nobody_watches(germline: Terminal) -> None:
    environment = {**os.environ, "PAGER": "false"}
    with ForkedCommand(["show", "sql-analyst"], cwd=germline.folder, env=environment) as shown:
        assert shown.stdout.read().startswith("---\n")
        assert shown.wait() == 0


class Demonstrated(NamedTuple):
    """A demo in `there`, played where the environment names another registry, and what became of that one."""

    germline: Terminal
    output: str
    events_elsewhere: tuple[int, int]


@pytest.fixture(scope="module")
def demonstrated(germline: Terminal, own_folder: Path) -> Demonstrated:
    named = germline.folder / ".germline/registry.db"
    (folder := own_folder / "demo").mkdir()
    terminal = Terminal(folder, GERMLINE_REGISTRY=str(named))
    before = germline.events()
    output = terminal.does("demo", "there").out
    return Demonstrated(terminal, output, (before, germline.events()))


def test_the_demo_tells_the_whole_story_with_real_commands(demonstrated: Demonstrated) -> None:
    germline, output, _ = demonstrated
    typed = [line.split()[2] for line in output.splitlines() if line.startswith("$ germline ")]
    assert typed == ["init", "import", "scan", "evolve", "why", "revert", "log", "verify"]
    for sign in ("promote → sql-analyst@2", "still there", "it is sql-analyst@3 now", "unbroken up to"):
        assert sign in output
    assert "\n  cd there\n" in output
    there = Terminal(germline.folder / "there")
    assert there.does("status", "--json").json["skills"][1]["version"] == 3
    assert germline("demo", "there").code == 2


def test_after_make_the_demo_names_the_germline_to_call_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "a venv" / "germline"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [str(program), "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name() == f"'{program}'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert program_name() == "germline"


def test_a_demo_that_was_cut_short_says_once_so_and_begins_anew_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tui.cli.commands.skills.init_and_import.count", interrupted)
    germline = Terminal(tmp_path)
    answer = germline("demo", "there")
    assert answer.code == 130
    assert answer.err.count("interrupted") == 1
    assert "from its beginning: germline demo NEW_DIR" in answer.err
    again = germline("demo", "there")
    assert (again.code, again.hint) == (2, "germline demo NEW_DIR")
    (tmp_path / "other/logs").mkdir(parents=True)
    assert "other/logs is there already" in germline("demo", "other").err


def test_the_demo_keeps_away_from_the_registry_that_the_environment_names(demonstrated: Demonstrated) -> None:
    before, after = demonstrated.events_elsewhere
    assert before > 0
    assert after == before


def test_git_leaves_a_new_registry_out_until_the_person_says_otherwise(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    germline.does("init")
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"],
        check=True,
        capture_output=True,
    ).stdout.decode()
    assert "germline.toml" in listed
    assert ".germline/" not in listed
    (tmp_path / ".germline" / ".gitignore").unlink()
    germline.does("status")
    assert not (tmp_path / ".germline" / ".gitignore").exists()
