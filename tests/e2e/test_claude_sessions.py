"""The first evening: recorded Claude Code sessions, of which nobody says how they ended, teach something."""

from __future__ import annotations

import os
from shutil import rmtree
from typing import TYPE_CHECKING, Final

import pytest

from events.types.claims import After, AfterError, Claim
from examples import record_workspace
from examples.record_agent import Seen
from examples.record_sessions import record_all
from strategies.claims.error_directives import first_clause
from strategies.gate.placebos import tasks_permuted
from strategies.gate.replay.contrast import cases_of, contrast
from strategies.gate.replay.exposure import moment_of
from strategies.gate.replay.recovery_endpoint import attempts
from strategies.logs.scan import scan
from tests.terminal import SPLIT_KEY, Terminal
from tests.worlds import (
    Recoveries,
    division_of,
    outcomes_shuffled,
    promoted,
    recovering_by,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord
    from tests.worlds import Deal

pytestmark = pytest.mark.xdist_group("sessions")  # recorded once, not once a worker

SESSIONS: Final = 300
SKILL: Final = "---\nname: shop\ndescription: How to work in the shop project.\n---\n\nWork with care.\n"
NOT_READ: Final = "File has not been read yet. Read it first before writing to it."
SENSIBLE: Final[dict[str, str]] = {
    NOT_READ: "Read",
    "no such table: <*>": "mcp__sqlite__list_tables",
    "no such column: <*>": "mcp__sqlite__describe_table",
    "ModuleNotFoundError: No module named <*>": "Bash:ls",
    "cat: <*>: No such file or directory": "Bash:find",
}
"""What a person would do next after each error: look."""
CLAIMS: Final[tuple[Claim, ...]] = (
    *(AfterError(template=template, do=do) for template, do in SENSIBLE.items()),
    *(
        After(action=action, failing=True, avoid=action)
        for action in ("Edit", "Bash:cat", "Bash:python3", "mcp__sqlite__read_query")
    ),
)


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory, memory: Path | None) -> Iterator[Path]:
    """Record the sessions: real commands in real folders, a second of work, so once for all tests."""
    folder = memory or tmp_path_factory.mktemp("claude")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        recorded(7, SESSIONS, folder / "projects")
    yield folder / "projects"
    rmtree(folder / "projects")


def recorded(seed: int, sessions: int, folder: Path) -> list[Path]:
    """Record without running the same command on the same files over and over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_workspace, "shell", hardly_twice(record_workspace.shell))
        return record_all(seed, sessions, folder)


def hardly_twice(shell: Callable[[str, Path], Seen]) -> Callable[[str, Path], Seen]:
    """Run commands for real, but once where the names of the files that they look at say all that they say.

    Starting processes took most of the time, so what only shows files is read here. Python does not look for
    packages, of which no chore has one.
    """
    known: dict[tuple[str, ...], Seen] = {}

    def ran(command: str, folder: Path) -> Seen:
        seen = read_here(command, folder)
        if seen is None:
            looks_at = "*" if command.startswith(("ls ", "pwd")) else "**/*.py"
            key = (command, *sorted(str(path.relative_to(folder)) for path in folder.glob(looks_at)))
            seen = known.get(key) or shell(command.replace("python3 ", "python3 -S "), folder)
            if seen.failed or looks_at == "*":
                known[key] = seen
        return seen

    return ran


def read_here(command: str, folder: Path) -> Seen | None:
    """Say what `cat`, `find` and a report that finds its library say, byte for byte; None of other commands."""
    program, _, path = command.partition(" ")
    library = folder / program.removeprefix("PYTHONPATH=") / "shop" / "__init__.py"
    if program == "cat":
        text = f"Exit code 1\ncat: {path}: No such file or directory"
        shown = (folder / path).read_text().rstrip() if (folder / path).is_file() else ""
        return Seen(failed=not shown, text=shown or text)
    if program == "find":
        files = (f".{at.removeprefix(str(folder))}/{name}" for at, _, names in os.walk(folder) for name in names)
        return Seen(failed=False, text="\n".join(file for file in files if file.endswith(".md")))
    if program.startswith("PYTHONPATH=") and library.is_file():
        return Seen(failed=False, text=library.read_text().rstrip().replace("TOTAL = ", "total "))
    return None


@pytest.fixture(scope="session")
def episodes(sessions: Path) -> Sequence[EpisodeRecord]:
    return scan([sessions]).records


def test_the_same_seed_records_the_same_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # `find` tells files in the order of a file system
    first, again, other = (
        record_all(1, 6, tmp_path / "a"),
        recorded(1, 6, tmp_path / "b"),
        record_all(2, 2, tmp_path),
    )
    assert [path.name for path in first] == [path.name for path in again]
    texts = [path.read_text() for path in first]
    assert texts == [path.read_text() for path in again]
    for words in ("cat: ", "./docs/index.md", "total ", "ModuleNotFoundError"):  # in what `read_here` says, or ran
        assert any(words in text for text in texts)
    assert not {path.name for path in first} & {path.name for path in other}


def test_sessions_have_real_failures_no_outcome_and_a_task_each(episodes: Sequence[EpisodeRecord]) -> None:
    assert len(episodes) == len({record.task for record in episodes}) == SESSIONS >= 300
    assert {record.outcome for record in episodes} == {None}
    assert {record.format for record in episodes} == {"claude-code"}
    templates = {step.template for record in episodes for step in record.steps if step.error}
    assert set(SENSIBLE) <= templates
    assert len(templates) < 2 * len(SENSIBLE) + 10  # names of files and tables do not make templates of their own


def test_a_first_evening_ends_with_sensible_lines_and_says_what_they_were_judged_by(
    sessions: Path, tmp_path: Path
) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write("skills/shop/SKILL.md", SKILL)
    germline.does("import", "skills")
    assert germline.does("scan", sessions, "--json").json["new_episodes"] == SESSIONS
    cycles = germline.does("evolve", "shop", "--seed", "7", "--json").json["cycles"]
    assert not [cycle for cycle in cycles if cycle["verdict"] == "promote"]
    learnt = [cycle for cycle in cycles if (cycle["tier"] or {}).get("tier") == "seen"]
    done = {
        claim["template"]: claim["do"]
        for cycle in learnt
        for claim in cycle["candidate"]["claims"]
        if claim["kind"] == "after_error" and claim["do"]
    }
    assert len(done) >= 2
    assert done.items() <= SENSIBLE.items()
    assert {cycle["effect"]["endpoint"] for cycle in learnt} == {"recovered"}
    draft = next(cycle["candidate"] for cycle in learnt if cycle["candidate"]["claims"][0]["template"] == NOT_READ)
    germline.does("candidate", "approve", draft["id"], "--reason", "it worked here")
    lines = germline.does("show", "shop", "--json").json["lines"]
    line = next(row["line"] for row in lines if first_clause(NOT_READ) in row["text"])
    why = germline.does("why", f"shop:{line}", "--json").json
    assert why["effect"]["endpoint"] == "recovered"
    assert "nothing was compared" in " ".join(germline.does("why", f"shop:{line}").out.split())


MOST_FALSE = 1
"""Of 8 seeds, each with a claim or two at .01: two by chance is 1 in 100; no draw of these seeds is new."""


@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
def test_nothing_is_learnt_from_sessions_whose_recoveries_are_dealt_out_again(
    episodes: Sequence[EpisodeRecord], placebo: Deal
) -> None:
    for claim in CLAIMS:
        met = Recoveries([record for record in episodes if moment_of(claim, record) is not None], claim)
        false = 0
        for seed in range(8):
            division = division_of(met.dealt(placebo, seed), str(seed))
            figures = contrast(cases_of(claim, attempts(claim, division.explore)))
            assert figures is not None
            false += bool(promoted(recovering_by(claim, division, str(seed))))
        assert false <= MOST_FALSE
