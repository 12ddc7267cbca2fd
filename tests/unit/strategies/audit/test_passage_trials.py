"""What harms and shows in no run is found by runs: passages are put back in halves while nothing gets worse."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from strategies.audit.audit_skill import audit_skill
from strategies.audit.audit_verdict import worsening
from strategies.audit.drafts import passages_in
from strategies.audit.evaluators.evaluator_types import RunRecord
from strategies.audit.passage_trials import MOST_TRIALS, pieces_of, sentences
from tests.audit_pairs import audited, material
from tests.audit_runs import ScriptedRunner, obedient, plan_of
from tests.fake_runs import main_text
from tests.registries import NAME, capsule_of, imported

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.audit.audit_skill import AuditEnd
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial
    from strategies.rollouts.tasks.task import RolloutTask

QUIET_HARM = ("Be proud of what you do.", "Imagine a rushed reader.")
TEXT = """---
name: sql-analyst
description: Makes tables from files of sales. Use when a table of totals is asked for.
---
# Tables

- Sales are counted once.
- Be proud of what you do.
- Rows without a name are none.

## Manner

- Take one thing at a time. Imagine a rushed reader.
- Returns are sales of another day.
"""


def misled(text: str, task: RolloutTask) -> RunRecord:
    """Write the header in capitals where a passage stands that nobody would suspect."""
    record = obedient("", task)
    if not any(words in text for words in QUIET_HARM):
        return record
    return record.model_copy(update={"files": {"totals.csv": record.files["totals.csv"].upper()}})


def ended(registry: Registry, tmp_path: Path, runner: ScriptedRunner) -> AuditEnd:
    imported(registry, tmp_path, TEXT)
    return audit_skill(plan_of(registry, runner, count=2, pairs=3))


def text_of(end: AuditEnd) -> str:
    return "".join(line.text for gene in end.draft.capsule.genes for line in gene.lines)


def test_passages_that_harm_and_show_in_no_run_go_and_all_others_stay(registry: Registry, tmp_path: Path) -> None:
    end = ended(registry, tmp_path, ScriptedRunner(behaves=misled))
    text = text_of(end)
    assert [words for words in QUIET_HARM if words in text] == []
    stay = (
        "- Sales are counted once.",
        "- Rows without a name are none.",
        "- Take one thing at a time.\n",
        "- Returns",
    )
    assert [words for words in stay if words not in text] == []
    (passage,) = [judged for judged in end.record.judged if judged.moves]
    assert passage.kept
    assert {move.evaluator for move in passage.moves} == {"incremental-value"}
    assert "goes wrong in 12 of 12 pairs with it, in 0 of" in passage.moves[0].reason
    assert end.verdict.result == "inert"


def test_a_search_that_was_stopped_goes_on_and_makes_no_run_twice(registry: Registry, tmp_path: Path) -> None:
    made = Counter[tuple[str, str, int]]()

    class Counting(ScriptedRunner):
        def __call__(self, job: PlannedRun) -> Trial:
            done = super().__call__(job)
            made[job.arm.key, job.task.id, job.round] += 1
            return done

    def stop_at(last: int, number: int) -> None:
        if number == last:
            raise KeyboardInterrupt

    imported(registry, tmp_path, TEXT)
    for last in (10, 40):
        runner = Counting(behaves=misled, before=partial(stop_at, last))
        with pytest.raises(KeyboardInterrupt):
            audit_skill(plan_of(registry, runner, count=2, pairs=3))
    end = audit_skill(plan_of(registry, Counting(behaves=misled), count=2, pairs=3))
    assert set(made.values()) == {1}
    assert [words for words in QUIET_HARM if words in text_of(end)] == []


def test_a_passage_that_was_unlucky_in_its_first_pairs_is_put_back(registry: Registry, tmp_path: Path) -> None:
    unlucky = "Returns are sales of another day."
    always = ScriptedRunner(behaves=lambda _, task: misled(QUIET_HARM[0], task))

    class Unlucky(ScriptedRunner):
        def __call__(self, job: PlannedRun) -> Trial:
            return always(job) if job.round < 3 and unlucky in main_text(job) else super().__call__(job)

    end = ended(registry, tmp_path, Unlucky(behaves=misled))
    assert unlucky in text_of(end)
    assert [words for words in QUIET_HARM if words in text_of(end)] == []


def test_a_search_runs_no_more_drafts_than_it_may(registry: Registry, tmp_path: Path) -> None:
    every = "".join(f"- Rule {number} of the house is rule {number}.\n" for number in range(40))
    imported(registry, tmp_path, f"{TEXT.partition('# Tables')[0]}# Tables\n\n{every}")
    drafts = set[str]()

    def behaves(text: str, task: RolloutTask) -> RunRecord:
        drafts.add(text)
        return misled(QUIET_HARM[0] if text.count("Rule") % 3 == 1 else "", task)

    audit_skill(plan_of(registry, ScriptedRunner(behaves=behaves), count=2, pairs=3))
    assert len(drafts) <= 2 * MOST_TRIALS + 16


def test_a_skill_that_stays_worse_than_none_is_said_to_be_best_retired(registry: Registry, tmp_path: Path) -> None:
    def behaves(text: str, task: RolloutTask) -> RunRecord:
        return misled(QUIET_HARM[0] if "name: sql-analyst" in text else "", task)

    end = ended(registry, tmp_path, ScriptedRunner(behaves=behaves))
    assert end.record.ended
    assert f"it is safer without (germline skill retire {NAME})" in end.record.ended.because


GOOD = RunRecord(answer="done", files={"report.csv": "customer,total\nAnn,5\n"}, anchors={"header": True})
BAD = RunRecord(answer="done", files={"report.csv": "who,what\nAnn,5\n"}, anchors={"header": False})


@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [
        ([GOOD] * 8, [BAD] * 4, True),
        ([GOOD] * 8, [BAD] * 3 + [GOOD], True),
        ([GOOD] * 6 + [BAD] * 2, [GOOD] * 3 + [BAD], False),
        ([GOOD] * 2, [BAD] * 2, False),  # chance does that in one of six
        ([BAD] * 8, [BAD] * 4, False),
        ([], [BAD] * 4, False),
    ],
)
def test_what_goes_worse_is_more_than_chance_would_make(
    before: list[RunRecord], now: list[RunRecord], *, worse: bool
) -> None:
    was, is_now = ([audited(material("# Tables\n", run, GOOD)) for run in runs] for runs in (before, now))
    reason = worsening(was, is_now, 0.05)
    assert bool(reason) == worse
    assert not worse or reason.startswith(("orders: ", "what is made "))


def test_a_skill_is_divided_into_lines_and_blocks_and_lines_into_sentences() -> None:
    code, table = "```python\na = 1\n\nb = 2\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"
    text = f"# Title\n\n- One thing. Another thing.\n\n{code}\n{table}"
    skill = passages_in(capsule_of(text), {"scripts/x.py": "print(1)\n", "notes.md": "A note.\n"})
    shown = [[skill[at].text.strip() for at in piece.lines] for piece in pieces_of(skill)]
    assert shown == [
        ["- One thing. Another thing."],
        ["a = 1", "b = 2"],
        ["| a | b |"],
        ["| 1 | 2 |"],
        ["A note."],
    ]
    whole, block = pieces_of(skill)[:2]
    parts = sentences(whole, skill)
    assert [skill[part.lines[0]].text[part.start : part.end].strip() for part in parts] == [
        "One thing.",
        "Another thing.",
    ]
    assert sentences(block, skill) == sentences(parts[0], skill) == ()
