"""Usage: which lines earn their place, on instructions of which it is known what each line is worth."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

import pytest
from msgspec import structs

from events.types.claims import AnytimeBefore, Before, FinishWith, Instead, Never, StartWith
from registry.decide.commands import ImportSkill
from registry.skill_md.instructions import read_instructions
from strategies.gate.replay.measure import MeasurementStamp
from strategies.pool.intake import take_in
from strategies.pool.splits import Division
from strategies.usage.line_usage import usage_ground, usage_of
from strategies.usage.loaded_sessions import TOOLS
from strategies.usage.worth import comparison_of, worth_of
from tests.agent_sessions import SESSIONS
from tests.registries import new_registry
from tests.worlds import call, episode
from tests.worlds.confounded import ACTIONS, world
from tests.worlds.instructions import registry_of, write_world

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.claims import Claim
    from strategies.usage.line_usage import FileUsage
    from tests.clocks import TickingClock

STAMP: Final = MeasurementStamp("", "2026-01-01T00:00:00.000000Z")


@pytest.fixture(scope="module")
def measured(own_folder: Path) -> tuple[dict[str, str], FileUsage]:
    folder = own_folder / "instructions"
    lines = write_world(folder, 1, 400)
    registry = registry_of(folder)
    with closing(registry.log):
        usage = usage_of(usage_ground(registry), "CLAUDE.md", STAMP, seed=0)
    return {line.text: line.kind for line in lines}, usage


def test_harmful_lines_never_help_and_lines_that_change_nothing_are_not_accused(
    measured: tuple[dict[str, str], FileUsage],
) -> None:
    kinds, usage = measured
    verdicts = {(kinds[line.line.text.rstrip()], line.worth.verdict) for line in usage.lines}
    assert len(usage.lines) == len(kinds) == 60
    assert ("harmful", "hurts") in verdicts
    assert ("helpful", "helps") in verdicts
    assert not {("harmful", "helps"), ("harmful", "inert"), ("helpful", "hurts")} & verdicts
    assert not {("inert", "helps"), ("inert", "hurts")} & verdicts
    assert {verdict for kind, verdict in verdicts if kind == "unwitnessed"} == {"unwitnessed"}


def test_a_line_is_counted_where_its_moment_came(measured: tuple[dict[str, str], FileUsage]) -> None:
    _, usage = measured
    read = [line for line in usage.lines if line.claim]
    assert len(read) == 35
    for line in read:
        assert line.loaded == usage.loaded == usage.sessions == 400
        assert 0 < line.obeyed < line.applied < line.loaded
        assert line.obeyed + line.ignored == line.applied
        assert line.worth.effect is not None
        assert line.worth.effect.obeyed <= line.obeyed
    assert all(line.worth.tell for line in usage.lines if line.worth.verdict in {"unknown", "unwitnessed"})
    assert all(line.tokens == -(-len(line.line.text.strip()) // 4) for line in usage.lines)


CLAIMS: Final[list[Claim]] = [
    *(kind for a in ACTIONS for kind in (StartWith(do=a), FinishWith(do=a), Never(avoid=a))),
    *(
        kind
        for a in ACTIONS
        for b in ACTIONS
        if a != b
        for kind in (AnytimeBefore(action=a, do=b), Instead(do=a, avoid=b), Before(action=a, do=b))
    ),
]


@pytest.mark.parametrize("name", ["success ends", "time left", "crash", "reveal"])
def test_where_no_action_matters_an_order_neither_helps_nor_hurts(name: str) -> None:
    records = tuple(world(name, 3, episodes=600))
    judged = {claim: worth_of(claim, Division((), records, ()), len(CLAIMS), STAMP, seed=0) for claim in CLAIMS}
    assert not {claim: worth.why for claim, worth in judged.items() if worth.verdict in {"helps", "hurts"}}
    assert all(worth.effect is None for claim, worth in judged.items() if isinstance(claim, Never))


def test_without_outcomes_or_with_one_arm_alone_a_line_says_what_would_tell() -> None:
    claim = Instead(do="rg", avoid="grep")
    bare = [episode([call("rg")], outcome=None, task=f"t{at}") for at in range(30)]
    silent = worth_of(claim, Division((), tuple(bare), ()), 1, STAMP, seed=0)
    assert (silent.verdict, silent.why) == ("unknown", "no session says how it ended")
    all_obey = [episode([call("rg")], outcome=float(at % 2), task=f"t{at}") for at in range(30)]
    one_arm = worth_of(claim, Division((), tuple(all_obey), ()), 1, STAMP, seed=0)
    assert (one_arm.verdict, one_arm.why) == ("unknown", "all 30 sessions that came to it obeyed")
    both = [episode([call("rg" if at % 3 else "grep")], outcome=float(at % 2), task=f"t{at}") for at in range(30)]
    shares = [comparison_of(claim, Division((), tuple(each), ())).figures for each in (bare, all_obey, both)]
    assert [figures is not None for figures in shares] == [False, False, True]
    assert comparison_of(Never(avoid="grep"), Division((), tuple(both), ())).figures is None


def test_sessions_load_a_skill_by_what_they_say_and_a_projects_file_by_its_tool(
    tmp_path: Path, clock: TickingClock
) -> None:
    registry = new_registry(tmp_path, clock)
    for name in ("CLAUDE.md", "AGENTS.md"):
        (tmp_path / name).write_text("Use rg, not grep.\n")
        registry.execute(ImportSkill(read_instructions(tmp_path / name, name)))
    session = structs.replace(episode([call("Bash:rg")]), source="/logs/a.jsonl")
    formats = ["claude-code", "codex", "steps"]
    take_in(
        registry,
        [structs.replace(session, id=f"{at:064}", format=name, name=name) for at, name in enumerate(formats)],
    )
    ground = usage_ground(registry)
    loaded = {name: usage_of(ground, name, STAMP, seed=0).loaded for name in ("CLAUDE.md", "AGENTS.md")}
    assert loaded == {"CLAUDE.md": 2, "AGENTS.md": 2}


def test_whose_a_format_is_is_known_of_each_that_one_agent_alone_writes() -> None:
    shared = {"atif", "mini-swe-agent", "tau2-bench"}
    formats = {sample.format for sample in SESSIONS}
    assert formats - shared <= set(TOOLS)
    assert shared <= formats - set(TOOLS)
