"""The demo's own logs: whatever way they are divided, nothing is offered that a person would strike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from events.types.claims import After, AfterCall, AfterError
from strategies.gate.replay.explore_split import Explore
from strategies.logs.scan import scan
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.mine_claims import action_classes
from strategies.propose.recovery import recovery
from tests.read_once import recordings_read_once
from tests.worlds import asking, division_of
from tui.demo import demo_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord

KEYS: Final = ("1", "2", "3")
BY_KIND: Final = {
    "git": {
        "pathspec <*> did not match any file(s) known to git": {"Bash:git branch"},
        "Your local changes to the following files would be overwritten by checkout:": {
            "Bash:git stash",
            "Bash:git commit",
        },
        "failed to push some refs to <*>": {"Bash:git pull"},
        "fatal: The current branch <*> has no upstream branch.": {"Bash:git remote"},
    },
    "sql": {"no such table: <*>": {"sql:PRAGMA"}, "no such column: <*>": {"sql:PRAGMA"}},
}
"""What helps after which error, as examples/record_git.py and record_sql.py have it."""


def offered(records: Sequence[EpisodeRecord], key: str) -> list[Claim]:
    """Ask every proposer about every error and action of these logs."""
    explore = Explore(division_of(records, key).explore)
    met = Counter(template for record in records for template in {s.template for s in record.steps if s.error})
    asked = [recovery(asking(explore, template=template)) for template, times in met.items() if times >= 40]
    asked += [guard(asking(explore, action=action, calls_for="harden")) for action in action_classes(records)]
    asked.append(habit(asking(explore, kind="uncovered_failure", calls_for="innovate")))
    return [claim for mined in asked if mined.proposal for claim in mined.proposal.claims]


@pytest.mark.parametrize("kind", ["git", "sql"])
def test_the_demos_logs_offer_what_helps_after_an_error_and_no_habit(kind: str) -> None:
    with recordings_read_once():
        records = scan([demo_folder() / "recordings" / kind]).records
    helps = BY_KIND[kind]
    for key in KEYS:
        claims = offered(records, key)
        answers = {claim.template: claim.do for claim in claims if isinstance(claim, AfterError) and claim.do}
        assert all(do in helps[template] for template, do in answers.items())
        assert set(answers) >= {template for template in helps if "no upstream" not in template}, key
        rest = [claim for claim in claims if not isinstance(claim, AfterError)]
        assert all(isinstance(claim, After | AfterCall) for claim in rest), rest  # no order of steps is a rule
        assert all(claim.failing or claim.identical for claim in rest if isinstance(claim, After))
