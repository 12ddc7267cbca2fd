"""Innovate: the lines of another capsule that answer the same signal, where they hold here too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.state.line_claims import claims_of
from strategies.propose.mine_claims import mine
from strategies.propose.proposal import Copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.claims import Claim, Trigger
    from events.types.registry_events import SignalRaised
    from strategies.propose.proposal import Mined, ProposalRequest


def transfer(ask: ProposalRequest) -> Mined:
    """Fit the claims of other capsules' genes that answer this signal; the line keeps the words it has there.

    Lines without a claim of their own are left: nothing could say whether they hold here.
    """
    offered = {claim: (text, copied) for claim, text, copied in _offered(ask)}
    return mine("transfer", ask, offered, written=offered)


def _offered(ask: ProposalRequest) -> Iterator[tuple[Claim, str, Copied]]:
    """List the claims that other capsules bring, each with its line and where that is."""
    own = {live.claim for gene in ask.capsule.genes for live in gene.claims} if ask.capsule else set()
    for capsule in ask.others:
        for gene in capsule.genes:
            if not any(_same_signal(trigger, ask.signal) for trigger in gene.triggers):
                continue
            copied = Copied(gene.id, gene.title or f"Learned from {capsule.name}")
            for line in gene.lines:
                claims = claims_of(gene, line)
                if len(claims) == 1 and claims[0] not in own:
                    yield claims[0], line.text.strip(), copied


def _same_signal(trigger: Trigger, signal: SignalRaised) -> bool:
    """Tell whether a trigger names this signal, or one about the same error and action."""
    about = (signal.template, signal.action)
    return trigger.fingerprint == signal.fingerprint or (
        any(about) and (trigger.template, trigger.action) == about
    )
