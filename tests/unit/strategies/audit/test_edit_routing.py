"""Routes and moves: what is touched, in which order, what is left alone, and what the skill says then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest

from registry.decide.promote import edited
from registry.skill_md.render import skill_text
from strategies.audit.audit_verdict import AuditedPair
from strategies.audit.drafts import passages_in
from strategies.audit.edit_moves import draft_edits
from strategies.audit.edit_routing import route_edits
from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport, RunRecord
from tests.audit_pairs import action, audit, material
from tests.registries import capsule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.audit_events import AuditResult
    from registry.state.capsule import Capsule
    from strategies.audit.edit_routing import EditRoute
    from strategies.audit.evaluators.evaluator_types import AuditMaterial

OUTPUT = "\n## Output\n\n- Sort rows.\n"
SKILL = "# Orders\n\n- Divide by 100.\n- Use semicolons.\n- CSV is old.\n- Read `order.csv`.\n" + OUTPUT
HELD, LOST = {"header": True}, {"header": False}


def signal(action: Literal["harmful", "noise", "swap", "gap"], quote: str = "", **more: object) -> ActionSignal:
    return ActionSignal.model_validate({"action": action, "quote": quote, "reason": "for a reason", **more})


def pair(
    *signals: ActionSignal,
    result: AuditResult = "inert",
    task: str = "a",
    anchors: dict[str, bool] = HELD,
    protected: Sequence[str] = (),
    traced: Sequence[str] = (),
    skill: str = SKILL,
    by_model: bool = False,
) -> AuditedPair:
    run = RunRecord(answer="Done.", files={"report.csv": "x\n"}, anchors=anchors)
    report = EvaluatorReport(
        evaluator="format-compliance",
        task=task,
        result=result,
        signals=tuple(each.model_copy(update={"by_model": by_model}) for each in signals),
        protected=tuple(protected),
        traced=tuple(traced),
        by_model=by_model,
    )
    return AuditedPair(material(skill, run, run, task=task), (report,))


def texts(route: EditRoute) -> list[tuple[str, str]]:
    return [(t.action, t.passage.text.strip() if t.passage else t.replacement) for t in route.targets]


def after(route: EditRoute, skill: str = SKILL) -> str:
    base = capsule_of(skill)
    moves = draft_edits(route, base, {})
    return skill_text(edited(base, tuple(edit for move in moves.edits for edit in move.edits)))


def test_harm_is_taken_away_first_then_noise_then_texts_are_swapped_and_gaps_wait() -> None:
    signals = [
        signal("gap", replacement="Check the header."),
        signal("swap", "- Read `order.csv`.", replacement="- Read `orders.csv`."),
        signal("noise", "- CSV is old."),
        signal("harmful", "- Use semicolons."),
    ]
    sound = [pair(signals[2], task=f"t{at}") for at in range(5)]
    route = route_edits([pair(*signals, result="hurt", anchors=LOST), *sound])
    assert route.pipeline == "repair"
    assert texts(route) == [
        ("harmful", "- Use semicolons."),
        ("noise", "- CSV is old."),
        ("swap", "- Read `order.csv`."),
    ]
    assert after(route) == "# Orders\n\n- Divide by 100.\n- Read `orders.csv`.\n\n## Output\n\n- Sort rows.\n"


def test_an_edit_names_the_evaluator_and_the_task_that_its_reason_is_from_first() -> None:
    first, second = (
        pair(signal("harmful", "- Use semicolons.", reason=reason), task=task, result="hurt", anchors=LOST)
        for reason, task in (("the task wants commas", "b"), ("what it made is lost", "a"))
    )
    other = second.reports[0].model_copy(update={"evaluator": "data-consistency"})
    (target,) = route_edits([AuditedPair(second.material, (other,)), first]).targets
    assert target.reason == "the task wants commas"
    assert target.evaluators == ("format-compliance", "data-consistency")
    assert target.tasks == ("b", "a")


def test_what_is_left_alone_is_told_by_its_gravest_signal_in_whatever_order_pairs_come() -> None:
    harm, noise = (signal(action, "- Divide by 100.") for action in ("harmful", "noise"))
    pairs = [pair(noise, protected=["- Divide by 100."]), pair(harm, task="b")]
    routes = [route_edits(pairs), route_edits(pairs[::-1])]
    assert routes[0] == routes[1]
    assert [left.action for left in routes[0].left] == ["harmful"]


def test_gaps_are_filled_in_repair_alone_once_nothing_else_is_left() -> None:
    gap = signal("gap", replacement="Check the rows of the output.", move="add a missing rule")
    assert not route_edits([pair(gap)]).targets
    route = route_edits([pair(gap, anchors=LOST)])
    assert after(route) == SKILL + "- Check the rows of the output.\n"
    assert not route_edits([pair(gap, anchors=LOST, skill=SKILL + "- Check the rows of the output.\n")]).targets


def test_a_gap_is_not_filled_in_a_section_that_an_earlier_draft_emptied() -> None:
    gap = signal("gap", replacement="Check the rows of the output.", move="add a missing rule")
    base = capsule_of(SKILL)
    emptied = replace(base, genes=(base.genes[0], replace(base.genes[1], lines=())))
    moves = draft_edits(route_edits([pair(gap, anchors=LOST)]), emptied, {})
    assert [edit.gene for move in moves.edits for edit in move.edits] == [base.genes[0].id]


def test_what_helped_on_another_task_is_not_taken_away_and_the_reason_says_so() -> None:
    harmful = signal("harmful", "- Divide by 100.")
    route = route_edits(
        [
            pair(harmful, result="hurt", anchors=LOST),
            pair(task="b", result="helped", protected=["- Divide by 100."]),
        ]
    )
    assert not route.targets
    assert [(left.quote, left.why) for left in route.left] == [("- Divide by 100.", "it helps on b")]


def test_a_passage_whose_own_step_failed_is_not_protected_by_what_went_well_all_the_same() -> None:
    wrong = signal("swap", "- Read `order.csv`.", replacement="- Read `orders.csv`.")
    recovered = pair(result="helped", task="b", protected=["- Read `order.csv`."])
    hurt = pair(wrong, result="hurt", anchors=LOST)
    assert not route_edits([hurt, recovered]).targets
    steps = EvaluatorReport(evaluator="tool-use-rationality", task="b", result="inert", signals=(wrong,))
    failed = AuditedPair(recovered.material, (*recovered.reports, steps))
    assert texts(route_edits([hurt, failed])) == [("swap", "- Read `order.csv`.")]


def test_harm_outweighs_help_where_it_is_seen_in_far_more_pairs() -> None:
    helped = pair(task="b", result="helped", protected=["- Use semicolons."])
    harmed = [pair(signal("harmful", "- Use semicolons."), result="hurt", anchors=LOST)] * 12
    assert not route_edits([helped, *harmed[:5]]).targets
    assert texts(route_edits([helped, *harmed])) == [("harmful", "- Use semicolons.")]
    unsure = [pair(signal("harmful", "- Use semicolons.", suspects=2), result="hurt", anchors=LOST)] * 12
    assert not route_edits([helped, *unsure]).targets


def test_a_target_that_overlaps_a_protected_passage_is_split_at_its_border() -> None:
    skill = "# Orders\n\n- Divide by 100, and then round to tens.\n"
    harmful = signal("harmful", "- Divide by 100, and then round to tens.")
    pairs = [
        pair(harmful, result="hurt", anchors=LOST, skill=skill),
        pair(task="b", result="helped", protected=["- Divide by 100"], skill=skill),
    ]
    assert after(route_edits(pairs), skill) == "# Orders\n\n- Divide by 100\n"


def test_pairs_that_the_skill_hurts_make_nothing_noise_and_neither_does_one_task_of_several() -> None:
    noise = signal("noise", "- CSV is old.")
    hurt = [pair(noise, task=f"t{at}", result="hurt", anchors=LOST) for at in range(9)]
    assert not route_edits(hurt).targets
    assert not route_edits([*(pair(noise, task=f"t{at}") for at in range(9)), pair(task="other")]).targets


@pytest.mark.parametrize(("pairs", "shows", "is_noise"), [(5, 0, True), (4, 0, False), (12, 1, False)])
def test_noise_is_what_shows_in_none_of_enough_pairs(pairs: int, shows: int, *, is_noise: bool) -> None:
    noise = signal("noise", "- CSV is old.")
    traced = [["- CSV is old."] if at < shows else [] for at in range(pairs)]
    route = route_edits([pair(noise, task=f"t{at}", traced=traced[at]) for at in range(pairs)])
    assert bool(route.targets) == is_noise
    assert route.pipeline == "refine"


def test_a_word_of_one_model_needs_a_witness() -> None:
    harmful = signal("harmful", "- Sort rows.")
    alone = [pair(harmful, by_model=True), pair(task="b", by_model=True), pair(task="c", by_model=True)]
    assert not route_edits(alone).targets
    most = [pair(harmful, by_model=True, task=task) for task in ("a", "b")] + [pair(task="c", by_model=True)]
    assert texts(route_edits(most)) == [("harmful", "- Sort rows.")]
    unexplained = [*alone, pair(result="hurt", anchors=LOST)]
    assert texts(route_edits(unexplained)) == [("harmful", "- Sort rows.")]


def test_of_several_suspects_one_is_tried_at_a_time_with_its_copies() -> None:
    skill = "# Orders\n\n- Use pipes.\n- Use tabs.\n- Use pipes.\n"
    signals = [
        signal("harmful", quote, suspects=2, line=line)
        for quote, line in (("- Use tabs.", 4), ("- Use pipes.", 3), ("- Use pipes.", 5))
    ]
    pairs = [pair(*signals, result="hurt", anchors=LOST, skill=skill)]
    first = route_edits(pairs)
    assert texts(first) == [("harmful", "- Use pipes."), ("harmful", "- Use pipes.")]
    second = route_edits(pairs, [first.keys])
    assert texts(second) == [("harmful", "- Use tabs.")]
    assert not route_edits(pairs, [first.keys, second.keys]).targets


def test_a_draft_that_was_taken_back_is_not_tried_again_as_it_was_and_halts_refine() -> None:
    signals = [signal("harmful", "- Use semicolons."), signal("harmful", "- Sort rows.")]
    pairs = [pair(*signals, result="hurt", anchors=LOST)]
    whole = route_edits(pairs)
    assert len(route_edits(pairs, [whole.keys]).targets) == 1
    sound = [pair(signal("noise", "- CSV is old."), task=f"t{at}") for at in range(5)]
    refused = route_edits(sound, [route_edits(sound).keys])
    assert (refused.pipeline, refused.halted, refused.targets) == ("refine", True, ())


def test_refine_makes_few_moves_and_repair_more() -> None:
    lines = [f"- Passage number {at}.\n" for at in range(12)]
    skill = "# Orders\n\n" + "".join(lines)
    harmful = [signal("harmful", line.strip(), move=line) for line in lines]
    assert len(route_edits([pair(*harmful, result="hurt", anchors=LOST, skill=skill)]).targets) == 8
    assert len(route_edits([pair(*harmful, skill=skill)]).targets) == 3


def test_tasks_that_want_different_texts_in_one_place_change_nothing() -> None:
    pairs = [
        pair(signal("swap", "- Sort rows.", replacement=f"- Sort rows by {key}."), task=key, anchors=LOST)
        for key in ("name", "total")
    ]
    route = route_edits(pairs)
    assert (route.targets, route.left[0].why) == ((), "tasks want different texts there")


def test_a_path_that_is_right_on_one_task_is_no_slip_on_another() -> None:
    swap = signal("swap", "- Read `order.csv`.", replacement="- Read `orders.csv`.", move="correct a name")
    other = material(SKILL, RunRecord(), RunRecord(), task="b", workspace={"order.csv": "a\n"})
    assert not route_edits([pair(swap), AuditedPair(other, ())]).targets
    assert route_edits([pair(swap)]).targets


def test_protected_lines_of_a_person_stay_and_are_named() -> None:
    base = capsule_of(SKILL)
    genes = (replace(base.genes[0], protected=frozenset({4})), *base.genes[1:])
    route = route_edits([pair(signal("harmful", "- Use semicolons."), result="hurt", anchors=LOST)])
    moves = draft_edits(route, replace(base, genes=genes), {})
    assert moves.edits == ()
    assert "protected" in moves.left[0].why


def test_a_constraint_goes_beside_its_step_in_the_same_words() -> None:
    skill = "# Rules\n\n- Never use `sed` on the ledger.\n\n## Steps\n\n- Clean the ledger of blanks.\n- Sum it.\n"
    signals = [
        signal(
            "swap",
            "- Never use `sed` on the ledger.",
            replacement="- Never use `sed` on the ledger.",
            section="s.2:3",
            move="move a constraint beside its step",
        )
    ]
    route = route_edits([pair(*signals, anchors=LOST, skill=skill)])
    expected = (
        "# Rules\n\n\n## Steps\n\n- Clean the ledger of blanks.\n- Never use `sed` on the ledger.\n- Sum it.\n"
    )
    assert after(route, skill) == expected


def test_a_section_and_a_fence_of_which_nothing_is_left_go_as_a_whole() -> None:
    skill = "# Orders\n\n- Sum them.\n\n```\nrm -rf data\n```\n\n## Cleaning\n\n- Wipe the disk.\n"
    signals = [signal("harmful", "rm -rf data"), signal("harmful", "- Wipe the disk.")]
    route = route_edits([pair(*signals, result="hurt", anchors=LOST, skill=skill)])
    assert after(route, skill) == "# Orders\n\n- Sum them.\n\n\n"


def test_a_file_of_which_nothing_is_left_or_runs_goes_and_another_loses_its_line() -> None:
    script = "import os\n\nif os.path.exists('x'):\n    os.remove('x')\nprint('done')\n"
    files = {
        "bread.md": "# Bread\n\n- Knead `dough`.\n",
        "tidy.sh": "#!/bin/sh\nrm -rf .\nls\n",
        "tidy.py": script,
    }
    skill = passages_in(capsule_of(SKILL), files)
    run = RunRecord(answer="x", anchors=HELD)
    signals = (
        signal("harmful", "- Knead `dough`."),
        signal("harmful", "rm -rf ."),
        signal("harmful", "os.remove('x')"),
    )
    report = EvaluatorReport(evaluator="safety-compliance", task="a", result="hurt", signals=signals)
    route = route_edits([AuditedPair(material(SKILL, run, run, skill=skill), (report,))])
    changed = {
        path: text
        for move in draft_edits(route, capsule_of(SKILL), files).edits
        for path, text in move.files.items()
    }
    assert changed == {"bread.md": None, "tidy.sh": "#!/bin/sh\nls\n", "tidy.py": None}


def test_void_signals_reach_the_route() -> None:
    route = route_edits([pair(signal("harmful", "- No such line."), result="hurt", anchors=LOST)])
    assert not route.targets
    assert [void.quote for void in route.void] == ["- No such line."]


def test_no_pairs_no_route() -> None:
    assert route_edits([]).targets == ()


def agent(draft: Capsule, task: str) -> RunRecord:
    """Follow a skill in what it leaves: a header, a separator, a place, and what only the skill knows."""
    skill = skill_text(draft)
    header = "client,sum" if "client,sum" in skill else "customer,total"
    total = "53.75" if "/ 100" in skill else "5375"
    text = f"{header}\nAnn,{total}\n".replace(",", ";" if "semicolon" in skill else ",")
    files = {} if "/srv/out" in skill else {"report.csv": text}
    kept = {"header of report.csv": text.startswith("customer,total") and bool(files)}
    if task == "cents":
        kept["value of report.csv"] = "53.75" in text and bool(files)
    calls = (action("awk '{s += $3 / 100}' orders.csv"),) if "/ 100" in skill else ()
    return RunRecord(answer="Done.", files=files, anchors=kept, actions=calls)


def test_an_audit_takes_harm_away_and_keeps_what_carries_the_work() -> None:
    skill = (
        "# Orders\n\nCSV is a widely used format for tables.\n\n"
        "- Amounts are in cents: divide them with `/ 100`.\n"
        "- Use the semicolon as separator.\n- Write the result to `/srv/out/report.csv`.\n"
        "- Name the columns `client,sum`.\n- Name the columns `client,sum`.\n"
    )

    def pairs(draft: Capsule) -> list[AuditMaterial]:
        bare = capsule_of("")
        return [
            material(draft, agent(draft, task), agent(bare, task), task=task)
            for task in ("a", "b", "cents", "d", "e")
        ]

    text, verdicts, _ = audit(skill, pairs)
    assert "- Amounts are in cents: divide them with `/ 100`." in text
    assert "semicolon" not in text
    assert "client,sum" not in text
    assert "/srv/out" not in text
    assert "widely used" not in text
    assert verdicts[0].result == "hurt"
    assert verdicts[-1].result != "hurt"
