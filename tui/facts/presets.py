"""A preset as facts: its numbers and what each is for, and what no turn goes to under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.policy.written_rules import ROLLOUT_RULE, WRITTEN_RULE
from tui.facts.fact import fact
from tui.text.numbers import count
from tui.text.words import signal_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.policy.presets import Preset
    from strategies.select.queue import Resting
    from tui.facts.fact import Fact


_MOSTLY: Final = 60
_SMALL, _LARGE = 0.15, 0.4


def preset_sentence(preset: Preset) -> str:
    """Say in one sentence what a preset does most, in what steps, and how much it asks for, by its numbers."""
    weights = preset.weights
    shares = {
        "repairs what fails": weights.repair,
        "hardens what works": weights.harden,
        "tries something new": weights.innovate,
    }
    first, *others = sorted((words for words in shares if shares[words]), key=lambda words: -shares[words])
    lead = "Only" if not others else "Mostly" if shares[first] >= _MOSTLY else "First of all"
    rest = f", then {' and '.join(others)}" if others else ""
    sizes = {"in small steps": preset.trust_region <= _SMALL, "in large steps": preset.trust_region >= _LARGE}
    strict = preset.alpha < WRITTEN_RULE.alpha or preset.least_e > ROLLOUT_RULE.least_e
    ways = [size for size, holds in sizes.items() if holds]
    ways += ["with more evidence than the rule asks for"] if strict else []
    how = f"; {', '.join(ways)}" if ways else ""
    return f"{lead} {first}{rest}{how}."


def preset_facts(preset: Preset) -> Iterator[Fact]:
    """Say what each number of a preset allows or asks for."""
    weights, budget = preset.weights, preset.edit_budget
    reverts = "reverts by itself" if preset.auto_revert else "waits for a person to revert"
    yield fact("weights", f"repair {weights.repair} %, harden {weights.harden} %, innovate {weights.innovate} %")
    yield fact("edits", f"{budget.start} in the first cycle down to {budget.floor} in the last, {budget.schedule}")
    yield fact("region", f"at most {preset.trust_region:.0%} of the base's characters may change")
    yield fact("genes", f"new genes are {'allowed' if preset.new_genes else 'not allowed'}")
    yield fact("gate", f"replay at alpha {preset.alpha:g}, runs at an e-value of {preset.least_e:g} or more")
    tiers = f"{' and '.join(preset.projected)} lines" if preset.projected else "no lines"
    yield fact("promotes", f"{tiers} become a version without a person; a regression {reverts}")
    drafted = "are offered as drafts" if preset.drafts_seen else "are not offered"
    expiry = f"gone after {count(preset.seen_sessions, 'session')} or {preset.seen_days} days unless seen again"
    yield fact("seen", f"lines that are only seen {drafted}; {expiry}")
    trial = "by themselves" if preset.trials else "where a person starts it"
    bound = f"surely fewer than {preset.retire_below:.0%} of {preset.retire_after} sessions or more succeed"
    yield fact("retires", f"skills are proposed for retirement where {bound}")
    yield fact("trials", f"supported lines go on trial {trial}")
    edits = "kept aside until a person adopts them" if preset.hold_edits else "reported, and loaded as they are"
    yield fact("files", f"edits of skill files that nobody adopted are {edits}")


def preset_figures(preset: Preset) -> tuple[str, str, str, str]:
    """Write the numbers of a preset for a table: edits, region, alpha and the least e-value."""
    edits = f"{preset.edit_budget.start} → {preset.edit_budget.floor}"
    return edits, f"{preset.trust_region:.0%}", f"{preset.alpha:g}", f"{preset.least_e:g}"


def resting_words(resting: Resting) -> str:
    """Say why a signal is left alone, and for how long."""
    turns = count(resting.turns_left, "turn")
    return f"{signal_words(resting.signal)}: {resting.failures} turns in a row promoted nothing; {turns} left"
