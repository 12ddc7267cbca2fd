"""Descriptions held to sessions: what is true is found, noise promotes nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, Literal

import pytest
from msgspec import structs

from strategies.usage.describe_skill import ALPHA, Divided, judged_on, rewritten
from strategies.usage.trigger_audit import OfferedSession, TriggerAudit, TriggerProportion
from tests.registries import SKILL, capsule_of
from tests.worlds import call, episode

if TYPE_CHECKING:
    from events.types.capsule_events import DescriptionJudged
    from strategies.episodes.episode import EpisodeRecord

WORDS: Final = ("invoice", "ledger", "payment", "letter", "meeting", "photo", "calendar", "drawing")
NEEDED: Final = frozenset(WORDS[:3])
WIDE: Final = "Works on an invoice, ledger or payment. Helps with each letter, meeting, photo and calendar."
Noise = Literal["none", "loads", "needs"]


def record(number: int) -> EpisodeRecord:
    return structs.replace(episode([call("read")]), id=f"{number:04}", task=f"t{number}")


def sessions(seed: int, noise: Noise) -> Divided:
    """Draw sessions: an agent loads what the description names; noise moves loads, or needs, at random."""
    draws = random.Random(seed)
    words = [draws.choice(WORDS) for _ in range(320)]
    loaded = [draws.random() < (0.9 if word in WIDE else 0.05) for word in words]
    needed = [word in NEEDED for word in words]
    if noise == "loads":
        draws.shuffle(loaded)
    if noise == "needs":
        draws.shuffle(needed)
    made = [
        OfferedSession(record(number), frozenset([word]), load, need)
        for number, (word, load, need) in enumerate(zip(words, loaded, needed, strict=True))
    ]
    return Divided(tuple(made[::2]), tuple(made[1::2]))


def judged(parts: Divided) -> DescriptionJudged:
    none = TriggerProportion.of(())
    audit = TriggerAudit(capsule_of(SKILL), WIDE, (), (*parts.explore, *parts.sealed), none, none)
    return judged_on(audit, parts, rewritten(WIDE, parts.explore), ALPHA / 2)


def test_a_part_of_a_description_that_finds_what_needs_no_skill_is_left_out() -> None:
    verdict = judged(sessions(1, "none"))
    assert verdict.verdict == "promote"
    assert verdict.description == "Works on an invoice, ledger or payment."
    assert verdict.reached.after == verdict.reached.before == 1.0


@pytest.mark.parametrize("noise", ["loads", "needs"])
def test_noise_promotes_no_description_in_twenty_seeds(noise: Noise) -> None:
    verdicts = {seed: judged(sessions(seed, noise)).verdict for seed in range(20)}
    assert [seed for seed, verdict in verdicts.items() if verdict == "promote"] == []


def test_too_few_sessions_hold() -> None:
    parts = sessions(1, "none")
    few = judged(Divided(parts.explore, parts.sealed[:20]))
    assert few.verdict == "hold"
    assert "10 of each are needed" in few.reasons[0]
