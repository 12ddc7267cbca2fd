"""Each kind of claim: its one moment, its contradictions, its sentence."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING

import msgspec
import pytest
from pydantic import TypeAdapter

from events.errors import UsageError
from events.types.claims import (
    ANY,
    CHANGE,
    CHECK,
    HAND_IN,
    LOOK,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    Claim,
    FinishWith,
    Instead,
    Never,
    OutputClaim,
    PluginClaim,
    StartWith,
)
from strategies.claims import catalogue
from strategies.claims.applicability import Moment
from strategies.claims.catalogue import KINDS, contradicts, described, kind_of, sentence
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.answer_forms import FORMS, forms_of
from strategies.gate.replay.exposure import Inverse, moment_of
from tests.worlds import NO_TABLE, call, episode

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

NO_TABLE_SAID = "Table … doesn't exist"
READ_FIRST = Before(action="Edit", do="Read")
BEGIN = StartWith(do="Read")
END = FinishWith(do="test")
NUMBER = OutputClaim(pattern="number")
TESTED = AnytimeBefore(action="Bash:git commit", do="Bash:pytest")
PNPM = Instead(do="Bash:pnpm", avoid="Bash:npm")
NO_NPM = Never(avoid="Bash:npm")
ALL: list[Claim] = [
    AfterError(template=NO_TABLE, do="sql:SHOW"),
    AfterError(template=NO_TABLE, avoid="sql:SELECT"),
    After(action="sql:SELECT", k=2, avoid="sql:SELECT"),
    READ_FIRST,
    BEGIN,
    END,
    NUMBER,
    TESTED,
    PNPM,
    NO_NPM,
    AfterCall(action=CHANGE, do=CHECK),
    AnytimeBefore(action="buy", do="choose"),
    PluginClaim(name="budget", terms=(("most", "3"),)),
]


def acts(*names: str, ended_by: str = "environment") -> EpisodeRecord:
    return msgspec.structs.replace(episode([call(name) for name in names]), ended_by=ended_by)


def message(turn: int, actor: str = "agent") -> object:
    return msgspec.structs.replace(call("message", turn=turn), kind="message", actor=actor)


@pytest.mark.parametrize(
    ("claim", "names", "moment"),
    [
        (TESTED, ("Bash:pytest", "Edit", "Bash:git commit"), Moment(2, obeyed=True)),
        (TESTED, ("Bash:git commit", "Bash:pytest"), Moment(0, obeyed=False)),
        (TESTED, ("Bash:pytest", "Bash:git"), None),
        (PNPM, ("Edit", "Bash:pnpm add", "Bash:npm ci"), Moment(1, obeyed=True)),
        (PNPM, ("Bash:npm ci", "Bash:pnpm add"), Moment(0, obeyed=False)),
        (PNPM, ("Bash:npmx", "Edit"), None),
        (NO_NPM, ("Edit", "Bash:npm ci", "Edit"), Moment(1, obeyed=False)),
        (NO_NPM, ("Edit", "Bash:pnpm add"), Moment(1, obeyed=True)),
    ],
)
def test_a_name_covers_its_subcommands_and_the_first_use_decides(
    claim: Claim, names: tuple[str, ...], moment: Moment | None
) -> None:
    assert moment_of(claim, acts(*names)) == moment


@pytest.mark.parametrize(
    ("names", "moment"),
    [
        (("Read", "Edit", "Read"), Moment(1, obeyed=True)),
        (("Read", "grep", "Edit"), Moment(2, obeyed=False)),
        (("Edit", "Read", "Edit"), Moment(0, obeyed=False)),
        (("Read", "grep"), None),
    ],
)
def test_before_looks_one_step_back_from_the_first_use(names: tuple[str, ...], moment: Moment | None) -> None:
    assert moment_of(READ_FIRST, acts(*names)) == moment


def test_what_is_issued_together_with_a_call_does_not_stand_before_it() -> None:
    together = episode([call("Read", turn=0), call("grep", turn=1), call("Read", turn=2), call("Edit", turn=2)])
    assert moment_of(READ_FIRST, together) == Moment(3, obeyed=False)
    several = episode([call("grep", turn=0), call("Read", turn=0), call("Edit", turn=1)])
    assert moment_of(READ_FIRST, several) == Moment(2, obeyed=True)


def test_what_others_say_stands_before_nothing() -> None:
    by_user = episode([call("Read", turn=0), message(1, "user"), call("Edit", turn=2)])  # type: ignore[list-item]
    assert moment_of(READ_FIRST, by_user) == Moment(2, obeyed=True)
    own = episode([call("Read", turn=0), message(1), call("Edit", turn=2)])  # type: ignore[list-item]
    assert moment_of(READ_FIRST, own) == Moment(2, obeyed=False)


def test_start_with_is_decided_by_the_first_action_alone() -> None:
    assert moment_of(BEGIN, acts("Read", "Edit")) == Moment(0, obeyed=True)
    assert moment_of(BEGIN, acts("Edit", "Read")) == Moment(0, obeyed=False)
    assert moment_of(BEGIN, acts()) is None
    spoken = episode([message(0, "user"), message(1), call("Read", turn=1)])  # type: ignore[list-item]
    assert moment_of(BEGIN, spoken) == Moment(2, obeyed=True)  # the message goes with a call of its turn


@pytest.mark.parametrize("ended_by", ["environment", "limit", "unknown"])
def test_finish_with_has_no_moment_where_the_agent_did_not_end_the_episode(ended_by: str) -> None:
    assert moment_of(END, acts("test", "submit", ended_by=ended_by)) is None


def test_finish_with_is_decided_by_the_last_action_but_one() -> None:
    assert moment_of(END, acts("Edit", "test", "submit", ended_by="agent")) == Moment(2, obeyed=True)
    assert moment_of(END, acts("test", "Edit", "submit", ended_by="agent")) == Moment(2, obeyed=False)
    assert moment_of(END, acts("submit", ended_by="agent")) == Moment(0, obeyed=False)


def test_a_meaning_is_obeyed_by_every_class_that_has_it() -> None:
    look = AfterError(template=NO_TABLE, do=LOOK)
    for action in ("sql:SHOW", "sql:DESC", "sql:PRAGMA", "Bash:ls", "Bash:git status", "Read", "get_user"):
        looked = episode([call("sql:SELECT", NO_TABLE), call(action)])
        assert moment_of(look, looked) == Moment(0, obeyed=True)
    asked = episode([call("sql:SELECT", NO_TABLE), call("sql:SELECT")])
    assert moment_of(look, asked) == Moment(0, obeyed=False)


def test_a_call_repeated_unchanged_is_told_whatever_its_tool() -> None:
    again = After(action=ANY, failing=True, identical=True, avoid=ANY)
    for tool in ("Read", "sql:SELECT"):
        assert moment_of(again, episode([call("ls"), call(tool, "e"), call(tool, same=1)])) == Moment(
            1, obeyed=False
        )
        assert moment_of(again, episode([call("ls"), call(tool, "e"), call(tool)])) == Moment(1, obeyed=True)
    assert moment_of(again, episode([call("ls"), call("ls", same=0)])) is None  # nothing failed


def test_after_call_is_decided_by_the_action_after_the_first_call_that_counts() -> None:
    claim = AfterCall(action="Edit", failing=True, do="Read")
    assert moment_of(claim, episode([call("Edit"), call("Edit", "e"), call("Read")])) == Moment(1, obeyed=True)
    assert moment_of(claim, episode([call("Edit", "e"), call("ls"), call("Read")])) == Moment(0, obeyed=False)
    assert moment_of(claim, episode([call("Edit"), call("Read")])) is None
    assert moment_of(claim, episode([call("Edit", "e")])) is None  # nothing was decided after it
    assert moment_of(AfterCall(action=CHANGE, do=CHECK), acts("Read", "Edit", "Bash:pytest")) == Moment(
        1, obeyed=True
    )


def test_anytime_before_looks_at_everything_before_the_first_use_or_the_end() -> None:
    claim = AnytimeBefore(action="buy", do="choose")
    assert moment_of(claim, acts("choose", "search", "buy", "choose")) == Moment(2, obeyed=True)
    assert moment_of(claim, acts("search", "buy", "choose", "buy")) == Moment(1, obeyed=False)
    assert moment_of(claim, acts("choose")) is None
    together = episode([call("search", turn=0), call("choose", turn=1), call("buy", turn=1)])
    assert moment_of(claim, together) == Moment(2, obeyed=False)  # issued together: neither knew of the other
    end = AnytimeBefore(action=HAND_IN, do=CHECK)
    assert moment_of(end, acts("Bash:pytest", "Edit", "ls", ended_by="limit")) == Moment(2, obeyed=True)
    assert moment_of(end, acts("Edit", "submit", ended_by="agent")) == Moment(1, obeyed=False)


def test_output_is_decided_by_the_form_of_the_final_answer() -> None:
    answered = msgspec.structs.replace(acts("Read"), answer_forms=("number", "text"))
    assert moment_of(NUMBER, answered) == Moment(0, obeyed=True)
    assert moment_of(OutputClaim(pattern="json"), answered) == Moment(0, obeyed=False)
    assert moment_of(NUMBER, acts("Read")) is None


def test_an_inverse_turns_obedience_round_and_keeps_the_moment() -> None:
    assert moment_of(Inverse(BEGIN), acts("Read")) == Moment(0, obeyed=False)
    assert moment_of(Inverse(END), acts("test", "submit")) is None


@pytest.mark.parametrize(
    ("claim", "other", "clash"),
    [
        (READ_FIRST, Before(action="Edit", do="grep"), True),
        (READ_FIRST, Before(action="Read", do="Edit"), True),
        (READ_FIRST, Before(action="Write", do="grep"), False),
        (READ_FIRST, StartWith(do="Edit"), True),
        (READ_FIRST, BEGIN, False),
        (BEGIN, StartWith(do="grep"), True),
        (END, FinishWith(do="lint"), True),
        (END, StartWith(do="lint"), False),
        (NUMBER, OutputClaim(pattern="json"), True),
        (NUMBER, OutputClaim(pattern="link"), False),
        (AfterError(template=NO_TABLE, do="a"), AfterError(template=NO_TABLE, avoid="a"), True),
        (After(action="a", avoid="a"), After(action="a", avoid="b"), False),
        (TESTED, AnytimeBefore(action="Bash:pytest", do="Bash:git commit"), True),
        (PNPM, Instead(do="Bash:npm", avoid="Bash:pnpm"), True),
        (NO_NPM, StartWith(do="Bash:npm ci"), True),
        (NO_NPM, PNPM, False),
        (After(action="a", failing=True, avoid="a"), AfterError(template=NO_TABLE, do="a"), True),
        (After(action="a", failing=True, avoid="a"), AfterError(template=NO_TABLE, do="b"), False),
        (AfterCall(action="a", failing=True, do="b"), After(action="a", avoid="b"), True),
        (AfterCall(action="a", do="b"), AfterCall(action="a", do="c"), True),
        (AfterCall(action="a", do="b"), AfterCall(action="a", failing=True, do="c"), False),
        (AfterError(template=NO_TABLE, do=LOOK), AfterError(template=NO_TABLE, do="sql:SHOW"), False),
        (AfterError(template=NO_TABLE, do=LOOK), AfterError(template=NO_TABLE, avoid="sql:SHOW"), False),
        (AfterError(template=NO_TABLE, do="sql:SHOW"), AfterError(template=NO_TABLE, avoid=LOOK), True),
        (BEGIN, StartWith(do=LOOK), False),
        (END, FinishWith(do=LOOK), True),
        (AnytimeBefore(action="Edit", do="Read"), Before(action="Read", do="Edit"), True),
        (AnytimeBefore(action="Edit", do="Read"), StartWith(do="Edit"), True),
    ],
)
def test_contradictions_are_found_whichever_claim_is_asked(claim: Claim, other: Claim, *, clash: bool) -> None:
    assert contradicts(claim, other) is clash
    assert contradicts(other, claim) is clash
    assert not contradicts(claim, claim)


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        (READ_FIRST, "Before you call Edit for the first time, call Read."),
        (StartWith(do="sql:SHOW"), "Begin each task with this: run SHOW."),
        (FinishWith(do="Bash:make test"), "Before you finish, run make test as the last step."),
        (NUMBER, "Give the final answer as a bare number."),
        (TESTED, "Before you run git commit, run pytest at least once."),
        (PNPM, "To do what either does, run pnpm; do not run npm."),
        (NO_NPM, "Do not run npm."),
        (OutputClaim(pattern="<b>"), "Give the final answer in this form: ‹b›."),
        (
            After(action="sql:SELECT", failing=True, avoid="sql:SELECT"),
            "When you run SELECT and it fails, do not run SELECT again right away.",
        ),
        (
            After(action="Read", k=3, avoid="Read"),
            "After you call Read for the 3rd time, do not call Read again right away.",
        ),
        (
            After(action="Read", failing=True, identical=True, avoid="Read"),
            "When you call Read and it fails, do not repeat it unchanged.",
        ),
        (
            After(action="Read", identical=True, avoid="Read"),
            "Do not call Read twice in a row with the same input.",
        ),
        (
            After(action=ANY, failing=True, identical=True, avoid=ANY),
            "When a call fails, do not send it again unchanged.",
        ),
        (StartWith(do=LOOK), "Begin each task with this: look at what is there."),
        (
            AfterError(template=NO_TABLE, do=LOOK),
            f'After "{NO_TABLE_SAID}", look at the tables before the next query.',
        ),
        (
            AfterCall(action="sql:SELECT", failing=True, do=LOOK),
            "When you run SELECT and it fails, look at what is there before you try again.",
        ),
        (
            AfterCall(action=CHANGE, do=CHECK),
            "After you change something for the first time, check your work next.",
        ),
        (AnytimeBefore(action="buy", do="choose"), "Before you call buy, call choose at least once."),
        (AnytimeBefore(action=HAND_IN, do="Bash:pytest"), "Before you finish, run pytest at least once."),
        (
            After(action="Read", k=2, identical=True, avoid="Read"),
            "When you call Read for the 2nd time with the same input, do not repeat it unchanged.",
        ),
        (After(action="a", k=2, avoid="b"), "After you call a for the 2nd time, do not call b right away."),
        (
            AfterError(template="e", do="b", avoid="c"),
            'After "e", call b next. Do not call c instead.',
        ),
    ],
)
def test_each_claim_has_a_sentence_of_the_projects_own(claim: Claim, line: str) -> None:
    assert sentence(claim) == line


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.kind)
def test_a_claim_survives_being_written_down(claim: Claim) -> None:
    adapter: TypeAdapter[Claim] = TypeAdapter(Claim)
    assert adapter.validate_json(adapter.dump_json(claim)) == claim


def test_every_kind_of_the_domain_is_registered() -> None:
    names = {claim.model_fields["kind"].default for claim in KINDS}
    assert names == {
        *("after_error", "after", "after_call", "before", "anytime_before", "start_with", "finish_with"),
        *("instead", "never", "output", "replace"),
    }


def test_another_package_brings_a_kind_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("short", f"{__name__}:SHORT", catalogue.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", lambda _: SHORT)
    monkeypatch.setattr(catalogue, "entry_points", lambda **asked: EntryPoints([point]).select(**asked))
    catalogue._plugin.cache_clear()
    claim = PluginClaim(name="short", terms=(("most", "2"),))
    assert moment_of(claim, acts("a", "b")) == Moment(0, obeyed=True)
    assert not contradicts(BEGIN, claim)
    assert sentence(claim) == "Take at most 2 steps at first."
    catalogue._plugin.cache_clear()


def test_a_claim_of_a_package_that_is_not_installed_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no installed package knows claims of kind 'budget'"):
        kind_of(ALL[-1])


def test_such_a_claim_is_still_shown_by_its_terms() -> None:
    assert described(ALL[-1]) == "budget most=3"
    assert described(BEGIN) == sentence(BEGIN)


SHORT: ClaimKind[PluginClaim] = ClaimKind(
    moment=lambda claim, record: Moment(0, len(record.steps) <= int(dict(claim.terms)["most"])),
    contradicts=lambda _claim, _other: False,
    sentence=lambda claim: f"Take at most {dict(claim.terms)['most']} steps at first.",
)


@pytest.mark.parametrize(
    ("answer", "forms"),
    [
        ("", ()),
        (" 1,234.5 ", ("number", "text")),
        ('{"a": 1}', ("json", "text")),
        ("{not json", ("text",)),
        ("```\nx\n```\nDone", ("code", "text")),
        ("- one\n- two", ("list", "text")),
        ("| a |\n| b |", ("table", "text")),
        ("see https://x.y now?", ("link", "text")),
    ],
)
def test_the_forms_of_an_answer_are_told_from_its_text(answer: str, forms: tuple[str, ...]) -> None:
    assert forms_of(answer) == forms
    assert set(forms) <= set(FORMS)
