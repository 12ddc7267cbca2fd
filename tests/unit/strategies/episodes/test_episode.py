from __future__ import annotations

import msgspec
import pytest

from events.types.claims import After, AfterError, Claim
from strategies.claims.applicability import Moment, matches, next_action
from strategies.claims.catalogue import contradicts
from strategies.episodes.episode_records import decode, encode
from strategies.gate.replay.exposure import first_moment, moment_of
from tests.worlds import NO_TABLE, call, episode

DO_SHOW = AfterError(template=NO_TABLE, do="sql:SHOW")
NOT_SELECT = AfterError(template=NO_TABLE, avoid="sql:SELECT")
FAILED = call("sql:SELECT", "Table <*> doesn't exist")


@pytest.mark.parametrize(
    ("claim", "following", "obeyed"),
    [
        (DO_SHOW, "sql:SHOW", True),
        (DO_SHOW, "sql:SELECT", False),
        (NOT_SELECT, "sql:SELECT", False),
        (NOT_SELECT, "sql:DESC", True),
    ],
)
def test_after_error_is_decided_by_the_very_next_action(claim: Claim, following: str, *, obeyed: bool) -> None:
    record = episode([call("sql:SELECT"), FAILED, call(following), call("sql:SHOW"), call("sql:SELECT")])
    assert moment_of(claim, record) == Moment(1, obeyed)


def test_only_the_first_failure_with_the_template_counts() -> None:
    record = episode([FAILED, call("sql:SELECT", NO_TABLE), call("sql:SHOW")])
    assert moment_of(DO_SHOW, record) == Moment(0, obeyed=False)


def test_a_failure_that_ends_the_episode_is_no_moment() -> None:
    assert moment_of(DO_SHOW, episode([call("sql:SHOW"), FAILED])) is None


def test_another_error_is_no_moment() -> None:
    assert moment_of(DO_SHOW, episode([call("sql:SELECT", "Unknown column <*>"), call("sql:SHOW")])) is None


def test_calls_issued_together_are_not_the_next_action() -> None:
    together = [call("sql:SELECT", NO_TABLE, turn=0), call("sql:DESC", turn=0), call("sql:SHOW", turn=1)]
    assert moment_of(DO_SHOW, episode(together)) == Moment(0, obeyed=True)


def test_notes_and_what_others_say_never_count() -> None:
    note = msgspec.structs.replace(call(""), kind="note")
    reply = msgspec.structs.replace(call("message"), kind="message", actor="user")
    record = episode([FAILED, note, reply, call("sql:SHOW")])
    assert next_action(record, 0) == 3


def test_a_message_counts_only_where_its_turn_has_no_call() -> None:
    message = msgspec.structs.replace(call("message", turn=1), kind="message")
    with_call = episode([call("a", "e", turn=0), message, call("b", turn=1)])
    without = episode([call("a", "e", turn=0), message, call("b", turn=2)])
    last = episode([call("a", "e", turn=0), message])
    assert [next_action(record, 0) for record in (with_call, without, last)] == [2, 1, 1]


def test_a_claim_for_both_is_judged_by_what_to_do() -> None:
    both = AfterError(template=NO_TABLE, do="sql:SHOW", avoid="sql:SELECT")
    assert moment_of(both, episode([FAILED, call("sql:DESC")])) == Moment(0, obeyed=False)


def test_after_counts_calls_failing_calls_and_identical_calls() -> None:
    record = episode(
        [
            call("sql:SELECT", same=0),
            call("sql:SELECT", "e", same=1),
            call("sql:SELECT", "e", same=1),
            call("sql:DESC"),
        ]
    )
    second = After(action="sql:SELECT", k=2, avoid="sql:SELECT")
    failing = After(action="sql:SELECT", k=2, failing=True, avoid="sql:SELECT")
    identical = After(action="sql:SELECT", k=1, identical=True, avoid="sql:SELECT")
    repeated = After(action="sql:SELECT", k=2, identical=True, avoid="sql:SELECT")
    assert moment_of(second, record) == Moment(1, obeyed=False)
    assert moment_of(failing, record) == Moment(2, obeyed=True)
    assert moment_of(identical, record) == Moment(0, obeyed=True)  # another SELECT, but not the same
    assert moment_of(repeated, record) == Moment(2, obeyed=True)


def test_records_and_claims_with_the_long_form_are_matched_by_the_short_one() -> None:
    stored = encode(episode([FAILED, call("sql:DESCRIBE")]))
    before, now = (AfterError(template=NO_TABLE, do=f"sql:{form}") for form in ("DESCRIBE", "DESC"))
    assert encode(decode(stored)) != stored
    assert decode(stored).id == episode([]).id
    for claim in (before, now):
        assert moment_of(claim, decode(stored)) == Moment(0, obeyed=True)
    assert not contradicts(before, now)
    assert contradicts(before, DO_SHOW)


def test_after_needs_the_episode_to_go_on() -> None:
    assert moment_of(After(action="sql:SELECT", avoid="sql:SELECT"), episode([call("sql:SELECT")])) is None


def test_an_episode_is_judged_by_the_claim_whose_moment_comes_first() -> None:
    column = AfterError(template="Unknown column <*>", do="sql:DESC")
    record = episode([call("sql:SELECT", "Unknown column <*>"), FAILED, call("sql:SHOW")])
    assert first_moment([DO_SHOW, column], record) == (1, Moment(0, obeyed=False))


def test_ties_go_to_the_claim_named_first() -> None:
    record = episode([FAILED, call("sql:DESC")])
    assert first_moment([NOT_SELECT, DO_SHOW], record) == (0, Moment(0, obeyed=True))
    assert first_moment([DO_SHOW, NOT_SELECT], record) == (0, Moment(0, obeyed=False))


def test_an_unknown_kind_of_claim_is_an_error_not_a_silence() -> None:
    with pytest.raises(TypeError, match="no way to judge"):
        moment_of(msgspec.structs.replace(FAILED), episode([FAILED]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("template", "text", "fits"),
    [
        ("Table <*> doesn't exist", "Table <*> doesn't exist", True),
        ("Table <*> doesn't exist", "Table 'a.b' doesn't exist", True),
        ("Table <*> doesn't exist", "Table doesn't exist", False),
        ("<*> of <*>", "a of b of c", True),
        ("a<*>a", "a", False),
        ("a<*>b<*>b", "ab", False),
        ("a<*>b<*>b<*>c", "abc", False),
        ("a<*>b<*>b<*>c", "a b b c", True),
        ("no wildcard", "no wildcard", True),
        ("no wildcard", "no wildcard here", False),
        ("<*>", "anything", True),
    ],
)
def test_a_frozen_template_is_matched_as_a_pattern(template: str, text: str, *, fits: bool) -> None:
    assert matches(template, text) is fits


@pytest.mark.parametrize(
    ("other", "clash"),
    [
        (AfterError(template=NO_TABLE, do="sql:DESC"), True),
        (AfterError(template=NO_TABLE, avoid="sql:SHOW"), True),
        (AfterError(template="<*> doesn't exist", do="sql:DESC"), True),
        (DO_SHOW, False),
        (NOT_SELECT, False),
        (AfterError(template="Unknown column <*>", do="sql:DESC"), False),
        (After(action="sql:SELECT", failing=True, avoid="sql:SELECT"), False),
    ],
)
def test_claims_contradict_each_other_only_at_the_same_moment(other: Claim, *, clash: bool) -> None:
    assert contradicts(DO_SHOW, other) is clash
    assert contradicts(other, DO_SHOW) is clash
