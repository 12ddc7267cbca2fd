"""The claim `replace`: its moment, what obeys it, what it clashes with, and that no null world promotes it."""

from __future__ import annotations

import msgspec
import pytest

from events.types.claims import AfterError, Replace
from strategies.claims.catalogue import contradicts, sentence
from strategies.claims.replace import replace
from strategies.gate.replay.recovery_endpoint import recovered
from tests.worlds import call, division_of, episode, promoted, recovering_by, without_outcomes
from tests.worlds.confounded import world

NPM = Replace(action="Bash:npm", template="npm error <*>", do="Bash:pnpm")
FLAG = Replace(action="Bash:cargo build", template="requires <*>", do="Bash:cargo build", flag="--all-features")


def test_it_is_judged_by_the_action_after_the_failure_of_the_command() -> None:
    failed = call("Bash:npm ci", "npm error 7")
    assert replace(NPM, episode([call("Bash:ls"), failed, call("Bash:pnpm i")])) == (1, True)
    assert replace(NPM, episode([failed, call("Bash:npm ci")])) == (0, False)
    assert replace(NPM, episode([failed])) is None
    assert replace(NPM, episode([call("Bash:npm ci"), call("Bash:pnpm i")])) is None
    assert replace(NPM, episode([call("Bash:yarn", "npm error 7"), call("Bash:pnpm i")])) is None


def test_a_flag_is_asked_for_as_well() -> None:
    failed = call("Bash:cargo build", "requires x")
    again = call("Bash:cargo build")
    assert replace(FLAG, episode([failed, again])) == (0, False)
    assert replace(FLAG, episode([failed, msgspec.structs.replace(again, flags=("--all-features",))])) == (0, True)


def test_the_next_attempt_is_of_either_command() -> None:
    failed = call("Bash:npm ci", "npm error 7")
    assert recovered(NPM, episode([failed, call("Bash:ls"), call("Bash:pnpm i")])) == 1
    assert recovered(NPM, episode([failed, call("Bash:npm ci", "npm error 7")])) == 0
    assert recovered(NPM, episode([failed, call("Bash:ls")])) is None


@pytest.mark.parametrize(
    ("other", "clashes"),
    [
        (Replace(action="Bash:npm", template="npm error <*>", do="Bash:yarn"), True),
        (Replace(action="Bash:pnpm", template="x", do="Bash:npm"), True),
        (Replace(action="Bash:pip", template="npm error <*>", do="Bash:uv"), False),
        (AfterError(template="npm error 7", avoid="Bash:pnpm"), True),
        (AfterError(template="npm error 7", do="Bash:pnpm"), False),
        (NPM, False),
    ],
)
def test_it_clashes_with_what_asks_for_something_else_at_the_same_failure(
    other: AfterError | Replace, *, clashes: bool
) -> None:
    assert contradicts(NPM, other) is clashes


def test_its_sentence_names_both_commands_or_the_flag() -> None:
    assert sentence(NPM) == "Use pnpm, not npm."
    assert sentence(FLAG) == "Run cargo build with `--all-features`."
    assert (
        sentence(Replace(action="str_replace", template="x", do="Edit")) == "Call Edit: do not call str_replace."
    )


@pytest.mark.parametrize("name", ["null", "momentum"])
def test_where_no_action_matters_the_gate_does_not_promote_it(name: str) -> None:
    claim = Replace(action="sql:SELECT", template="Table <*> doesn't exist", do="sql:SHOW")
    for seed in range(3):
        records = without_outcomes(world(name, seed, episodes=600))
        assert not promoted(recovering_by(claim, division_of(records, str(seed)), str(seed)))
