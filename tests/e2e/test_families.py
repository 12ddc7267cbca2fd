"""Every family of claims on worlds without an effect, on worlds with one, and on the recorded runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from events.types.claims import (
    LOOK,
    After,
    AfterCall,
    AfterError,
    Before,
    Claim,
    FinishWith,
    OutputClaim,
    StartWith,
)
from strategies.gate.placebos import tasks_permuted
from strategies.gate.replay.contrast import cases_of, contrast
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.exposure import moment_of
from strategies.gate.replay.recovery_endpoint import attempts, population
from strategies.gate.rules import RECOVERED_ALONE
from strategies.gate.verdict import judge
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.proposal import OwnSection
from strategies.propose.recovery import recovery
from strategies.propose.subtract import subtract
from strategies.propose.transfer import transfer
from tests.worlds import (
    NO_TABLE,
    Recoveries,
    asking,
    division_of,
    outcomes_shuffled,
    promoted,
    recovering,
    recovering_by,
    sent_through,
    skill_with,
    without_outcomes,
    world_where_nothing_matters,
    world_with_a_habit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.pool.splits import Division
    from strategies.propose.proposal import ProposalRequest, Proposer
    from tests.worlds import Deal, Habit, Judgement

SEEDS: Final = range(5)
"""Worlds of a kind; `bench.worlds` and `bench.coverage` draw forty and more."""
SOME_CLAIMS: Final[tuple[Claim, ...]] = (
    AfterError(template=NO_TABLE, do="sql:SHOW"),
    After(action="sql:SELECT", failing=True, avoid="sql:SELECT"),
    After(action="sql:SELECT", k=2, avoid="sql:SELECT"),
    After(action="sql:SELECT", identical=True, avoid="sql:SELECT"),
    StartWith(do="sql:SHOW"),
    Before(action="sql:DESC", do="sql:SHOW"),
    FinishWith(do="sql:SELECT"),
    OutputClaim(pattern="json"),
)
"""Claims of every family, for worlds of queries."""
THEIR_CLAIMS: Final[tuple[Claim, ...]] = (
    AfterError(template="broken", do="Read"),
    After(action="make", failing=True, avoid="make"),
    After(action="make", avoid="make"),
    After(action="make", identical=True, avoid="make"),
    StartWith(do="ls"),
    Before(action="Edit", do="Read"),
    FinishWith(do="test"),
    OutputClaim(pattern="json"),
)
"""The same for the worlds with a habit."""
HABITS: Final[tuple[Habit, ...]] = ("start_with", "before", "finish_with", "output", "guard")
QUERIES: Final = ("sql:SELECT", "sql:SHOW", "sql:DESC")


def every_family(
    division: Division, key: str, actions: Sequence[str], claims: Sequence[Claim] = SOME_CLAIMS
) -> list[Judgement]:
    """Ask every proposer about signals of its kind, and judge all they come up with under one evaluator.

    Shapes: claims of every family, the one about an error first.
    """
    explore = Explore(division.explore)
    assert isinstance(claims[0], AfterError)
    about = asking(explore, kind="uncovered_failure", calls_for="innovate")
    mine = replace(about, capsule=skill_with(claims))
    theirs = replace(about, others=(skill_with(claims, fingerprint=about.signal.fingerprint),))
    asks: list[tuple[ProposalRequest, Sequence[Proposer]]] = [
        (asking(explore, template=claims[0].template), (recovery,)),
        *(
            (asking(explore, action=action, kind="repeated_call", calls_for="harden"), (guard,))
            for action in actions
        ),
        (about, (habit,)),
        (theirs, (transfer,)),
        (mine, (subtract,)),
    ]
    return sent_through(asks, division, key)


def compared(claims: Sequence[Claim], records: Sequence[EpisodeRecord]) -> list[Claim]:
    """Keep the claims that have enough episodes on either side to be tried."""
    figures = {claim: contrast(cases_of(claim, records)) for claim in claims}
    return [
        claim
        for claim, figure in figures.items()
        if figure is not None and min(figure.obeyed, figure.disobeyed) >= 20
    ]


def test_no_family_promotes_anything_where_nothing_matters_and_success_ends_the_episode() -> None:
    tried: set[Claim] = set()
    for seed in SEEDS:
        division = division_of(world_where_nothing_matters(seed), str(seed))
        assert promoted(every_family(division, str(seed), QUERIES)) == []
        tried |= set(compared(SOME_CLAIMS, division.explore))
    assert tried == set(SOME_CLAIMS)  # every family has something to say in this world


def test_nothing_recovers_where_nothing_matters() -> None:
    """The page measured z between 0.2 and 1.2 in its placebo world; chance alone stays within 3.

    Where success ends the episode, who pauses before trying again has the harder tasks left: that speaks against
    a guard, never for it.
    """
    for seed in SEEDS:
        division = division_of(without_outcomes(world_where_nothing_matters(seed)), str(seed))
        assert promoted(every_family(division, str(seed), QUERIES)) == []
        for claim in SOME_CLAIMS[:2]:
            figures = contrast(cases_of(claim, population(claim, division.sealed).records))
            assert figures is not None
            assert figures.z < 3


@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
def test_no_family_promotes_anything_where_the_outcomes_of_a_true_habit_are_dealt_out_again(placebo: Deal) -> None:
    for seed in SEEDS:
        division = division_of(placebo(world_with_a_habit(seed, HABITS[seed % 5]), seed), str(seed))
        assert compared(THEIR_CLAIMS, division.explore) == list(THEIR_CLAIMS)
        assert promoted(every_family(division, str(seed), ["make", "Edit"], THEIR_CLAIMS)) == []


@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
def test_nothing_is_learnt_without_outcomes_where_recoveries_are_dealt_out_again(placebo: Deal) -> None:
    for seed in SEEDS:
        world = recovering(seed)
        for claim in SOME_CLAIMS[:2]:
            division = division_of(Recoveries(world, claim).dealt(placebo, seed), str(seed))
            assert compared([claim], attempts(claim, division.explore)) == [claim]
            assert promoted(recovering_by(claim, division, str(seed))) == []


@pytest.mark.data
@pytest.mark.usefixtures("outcomes_alone_differ")
@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
def test_no_family_promotes_anything_where_recorded_outcomes_are_dealt_out_again(
    intercode: Sequence[EpisodeRecord], placebo: Deal
) -> None:
    """Of `finish_with` one arm is nearly empty there, and `output` has no moment: the worlds above hold both."""
    for seed in SEEDS:
        division = division_of(placebo(intercode, seed), str(seed))
        assert promoted(every_family(division, str(seed), QUERIES[:1])) == []
        assert seed or compared(SOME_CLAIMS, division.explore) == list(SOME_CLAIMS[:6])


@pytest.mark.data
@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
@pytest.mark.parametrize("claim", SOME_CLAIMS[:2], ids=["after_error", "after"])
def test_nothing_is_learnt_from_the_recorded_runs_where_recoveries_are_dealt_out_again(
    intercode: Sequence[EpisodeRecord], claim: Claim, placebo: Deal
) -> None:
    met = Recoveries([record for record in intercode if moment_of(claim, record) is not None], claim)
    for seed in SEEDS:
        division = division_of(met.dealt(placebo, seed), str(seed))
        assert compared([claim], attempts(claim, division.explore)) == [claim]
        assert promoted(recovering_by(claim, division, str(seed))) == []


@pytest.mark.parametrize(
    ("kind", "proposer", "claim"),
    [
        ("start_with", habit, StartWith(do="ls")),
        ("before", habit, Before(action="Edit", do="Read")),
        ("output", habit, OutputClaim(pattern="json")),
        ("before", guard, Before(action="Edit", do="Read")),
        ("finish_with", guard, FinishWith(do="test")),
        ("guard", guard, After(action="make", failing=True, avoid="make")),
    ],
)
def test_a_true_habit_is_found_and_promoted_where_logs_can_show_it(
    kind: Habit, proposer: Proposer, claim: Claim
) -> None:
    for seed in (0, 1):
        division = division_of(world_with_a_habit(seed, kind), str(seed))
        action = {"before": "Edit", "guard": "make"}.get(kind, "")
        asks = [(asking(division.explore, kind="uncovered_failure", action=action), (proposer,))]
        (only,) = sent_through(asks, division, str(seed))
        waits = kind in {"output", "finish_with"}  # no decision of logs is about it, or who does it may explain it
        assert only.verdict.decision == ("hold" if waits else "promote"), only.verdict.reasons
        if kind == "guard":  # whether it failed, or was merely made, is the same in this world
            assert isinstance(only.claim, After | AfterCall | Before)
        else:
            assert only.claim == claim


def test_what_helps_another_skill_is_offered_where_it_holds_here_too() -> None:
    division = division_of(world_with_a_habit(4, "start_with"), "4")
    ask = asking(division.explore, kind="missing_capability", calls_for="innovate")
    helps, does_nothing = StartWith(do="ls"), OutputClaim(pattern="json")
    other = skill_with([helps, does_nothing], fingerprint=ask.signal.fingerprint)
    proposal = transfer(replace(ask, others=(other,))).proposal
    assert isinstance(proposal, OwnSection)
    assert [(line.text, line.claim) for line in proposal.lines] == [("Begin each task with this: call ls.", helps)]
    stranger = skill_with([helps], fingerprint="another signal")
    assert transfer(replace(ask, others=(stranger,))).proposal is None
    assert transfer(replace(ask, others=(other,), capsule=skill_with([helps]))).proposal is None


def test_a_hurtful_line_is_taken_away_and_a_helpful_one_stays() -> None:
    division = division_of(world_with_a_habit(5, "start_with"), "5")
    hurts, helps = StartWith(do="grep"), StartWith(do="ls")
    ask = replace(asking(division.explore, kind="repeated_call"), capsule=skill_with([helps, hurts]))
    (only,) = sent_through([(ask, (subtract,))], division, "5")
    assert (only.claim, only.verdict.decision) == (hurts, "promote")
    assert sent_through([(replace(ask, capsule=skill_with([helps])), (subtract,))], division, "5") == []


def test_protected_lines_and_lines_without_a_claim_are_never_taken_away() -> None:
    division = division_of(world_with_a_habit(5, "start_with"), "5")
    skill = skill_with([StartWith(do="grep")])
    (gene,) = skill.genes
    for guarded in (
        replace(gene, protected=frozenset({1})),
        replace(gene, protected_whole=True),
        replace(gene, claims=()),
    ):
        ask = replace(asking(division.explore), capsule=replace(skill, genes=(guarded,)))
        assert subtract(ask).proposal is None


@pytest.mark.data
@pytest.mark.parametrize(
    ("template", "do", "z", "difference"),
    [
        ("Table <*> doesn't exist", "sql:SHOW", 15.2, 0.60),
        ("Table <*> doesn't exist", "sql:SELECT", -15.7, -0.62),
        ("Unknown column <*> in <*>", "sql:SELECT", -9.6, -0.55),
        ("Unknown column <*> in <*>", "sql:DESC", 6.4, 0.47),  # DESC and DESCRIBE are one class
    ],
)
def test_what_recovers_on_the_recorded_runs_is_what_the_page_says(
    intercode: Sequence[EpisodeRecord], template: str, do: str, z: float, difference: float
) -> None:
    claim = AfterError(template=template, do=do)
    figures = contrast(cases_of(claim, population(claim, intercode).records))
    assert figures is not None
    assert figures.z == pytest.approx(z, abs=0.1)
    assert figures.difference.value == pytest.approx(difference, abs=0.01)


@pytest.mark.data
def test_the_recorded_runs_without_outcomes_still_teach_to_look(intercode: Sequence[EpisodeRecord]) -> None:
    for key in ("a", "b", "c"):
        division = division_of(without_outcomes(intercode), key)
        (only,) = sent_through([(asking(division.explore, template=NO_TABLE), (recovery,))], division, key)
        assert isinstance(only.claim, AfterError)
        assert (only.claim.do in {"sql:SHOW", LOOK}, only.verdict.decision) == (True, "promote")
        assert judge(only.evidence.figures, WRITTEN_RULE, 1).reasons[0] == RECOVERED_ALONE


@pytest.mark.data
def test_on_the_recorded_runs_failing_queries_are_left_to_their_errors_and_no_habit_survives(
    intercode: Sequence[EpisodeRecord],
) -> None:
    for key in ("a", "b", "c"):
        division = division_of(intercode, key)
        harden = asking(division.explore, action="sql:SELECT", kind="repeated_call", calls_for="harden")
        innovate = asking(division.explore, kind="uncovered_failure", calls_for="innovate")
        assert promoted(sent_through([(harden, (guard,)), (innovate, (habit,))], division, key)) == []
