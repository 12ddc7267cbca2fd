"""What a merge makes of another registry's history, and what it never takes its word for."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.store.histories import histories
from events.store.text_log import event_in, line_of
from events.types.capsule_events import VersionMerged
from events.types.parts import Edit
from registry.decide.commands import Judge, MoveSkill, Propose, RetireSkill
from registry.query.provenance import tier_counts
from strategies.merge.log_folder import export_log, read_log_folder
from strategies.merge.merge_history import MergeTerms, merge_history
from strategies.policy.presets import PRESETS
from tests.clocks import TickingClock
from tests.registries import DO, LOOK, NAME, SHOWN, imported, live_text, measured, new_registry, proposal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.registry import Registry
    from strategies.merge.merge_history import MergedSkill


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Registry]:
    (tmp_path / "theirs").mkdir()
    registry = new_registry(tmp_path / "theirs", TickingClock(seed=2), "another key")
    imported(registry, tmp_path / "theirs")
    with closing(registry.log):
        yield registry


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Registry]:
    (tmp_path / "ours").mkdir()
    registry = new_registry(tmp_path / "ours", TickingClock())
    with closing(registry.log):
        yield registry


def merged(ours: Registry, theirs: Registry, tmp_path: Path) -> MergedSkill:
    folder = tmp_path / "log"
    export_log(theirs.log, folder, write=True)
    terms = MergeTerms(folder, tmp_path / "aside", PRESETS["balanced"], instructing=False, require_free=str)
    known = {digest.hex() for digest in ours.log.hashes()}
    (history,) = (events for events in histories(read_log_folder(folder)) if events[-1].hash not in known)
    with ours.log.transaction():
        (skill,) = merge_history(ours, history, terms)
    return skill


def test_a_line_that_is_supported_there_has_no_tier_here(theirs: Registry, ours: Registry, tmp_path: Path) -> None:
    edit = Edit(op="append", gene=f"{NAME}.1", text=(LOOK,))
    proposed = proposal(theirs.capsule(NAME), edit, claims=(DO,))
    theirs.execute(Propose(proposed))
    scored = measured(proposed).model_copy(update={"effect": SHOWN})
    theirs.execute(Judge(scored, theirs.clock.new_id(), "promote", ("shown",)))
    assert tier_counts(theirs, theirs.capsule(NAME)) == {"supported": 1}
    skill = merged(ours, theirs, tmp_path)
    capsule = ours.capsule(NAME)
    assert (skill.result, capsule.version) == ("new", 2)
    assert live_text(ours) == live_text(theirs)
    assert tier_counts(ours, capsule) == {}
    assert capsule.unproven
    assert not [claim for gene in capsule.genes for claim in gene.claims]
    assert ours.log.verify().problems == ()
    *_, last = (envelope.event for envelope in ours.log.read(types=("VersionMerged",)))
    assert isinstance(last, VersionMerged)
    assert (last.origin_cause, last.origin_tiers, last.version) == ("promotion", ("supported",), 2)
    (there,) = theirs.log.at([last.origin.position])
    assert last.origin.hash == there.hash


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (f".claude/skills/{NAME}", f".claude/skills/{NAME}"),
        (".github/workflows", f"skills/{NAME}"),
        (f"../skills/{NAME}", f"skills/{NAME}"),
        (f"/etc/skills/{NAME}", f"skills/{NAME}"),
    ],
)
def test_another_registry_has_no_say_in_where_files_are_run(
    theirs: Registry, ours: Registry, tmp_path: Path, there: str, here: str
) -> None:
    theirs.execute(MoveSkill(NAME, there))
    merged(ours, theirs, tmp_path)
    assert ours.capsule(NAME).source == ours.place_here(here)


def test_an_event_is_the_same_after_its_line(theirs: Registry) -> None:
    events = list(theirs.log.read())
    assert [event_in(line_of(envelope)) for envelope in events] == events
    assert histories({envelope.hash: envelope for envelope in reversed(events)}) == [events]


def test_a_log_that_was_exported_twice_is_written_once(theirs: Registry, tmp_path: Path) -> None:
    written = export_log(theirs.log, tmp_path / "log", write=True)
    assert set(written.paths) == {".gitattributes", "registry.jsonl", f"skills/{NAME}.jsonl"}
    assert export_log(theirs.log, tmp_path / "log", write=True).paths == ()


def test_a_skill_that_is_retired_there_does_not_begin_here(
    theirs: Registry, ours: Registry, tmp_path: Path
) -> None:
    theirs.execute(RetireSkill(NAME, "nobody loads it"))
    assert merged(ours, theirs, tmp_path).result == "known"
    assert ours.names() == []
