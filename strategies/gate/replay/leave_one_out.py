"""Leave one origin out: whether a claim still holds without the logs of any single writer (F4).

Who writes a log can write any number of episodes into it, so no number of one origin's is enough.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import OutputClaim, PluginClaim
from events.types.score import OriginShare, Replication
from strategies.episodes.origins import origins_of, short_name
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.exposure import Inverse
from strategies.gate.stats.mantel_haenszel import Table, cmh_z, one_sided_p, risk_difference
from strategies.policy.written_rules import LEAST_OBEDIENT, WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from strategies.episodes.episode import Trust
    from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
    from strategies.gate.stats.mantel_haenszel import Stratum

OWN_P: Final = 0.05
"""What is left of one's own logs without an origin must show a claim this surely (a guess: the whole shows it by
the preset's alpha already, shared by all claims)."""
NOT_AGAINST: Final = 0.95
"""The same for what only asks to leave an action out: what is left must not surely speak against it. At .05, and
at .5, one of the two rules that recorded runs teach was lost (measured)."""
OTHERS_P: Final[Mapping[Trust, float]] = {"team": WRITTEN_RULE.alpha, "public": WRITTEN_RULE.alpha / 10}
"""What all others must show it by, without an origin that is not one's own."""
NOTICED: Final = 10
"""Moments from which the rest of one's own logs tells that nobody else does what the claim asks for (a guess)."""
NAMED: Final = 5
"""Origins that are named, heaviest first."""

CARRYING: Final = 0.05
"""The share of an arm from which an origin could carry a figure, and so is left out once (a guess)."""

_Tables = dict["Stratum", Table]
_Key = tuple[str, "Trust"]
"""An origin, and whose word it is."""


class _Origin(NamedTuple):
    """What one origin shows, by stratum, and whose word it is."""

    trust: Trust
    tables: _Tables

    @property
    def own(self) -> bool:
        """Whether these are one's own logs."""
        return self.trust == "mine"

    @property
    def arms(self) -> tuple[int, int]:
        """The episodes that obeyed, and those that did not."""
        return sum(table.n1 for table in self.tables.values()), sum(table.n0 for table in self.tables.values())


class _Left(NamedTuple):
    """What a claim shows without one origin, and the p that it must reach there."""

    origin: str
    value: float
    low: float
    p: float
    most_p: float


def replication(held: ClaimedEpisodes) -> Replication | None:
    """Hold a claim against the episodes of all origins but one, for each; None where none reaches its moment.

    Of one's own logs the rest is asked only where it can answer. Without an origin that is not one's own, all
    others must show the claim by themselves.
    """
    claim, every = held.claim, _by_origin(held)
    if not every:
        return None
    leaves_out = not isinstance(claim, Inverse) and getattr(claim, "do", None) is None
    own_p = NOT_AGAINST if leaves_out and not isinstance(claim, (OutputClaim, PluginClaim)) else OWN_P
    left, obeying = [*_left(every, own_p)], [part for part in every.values() if part.arms[0]]
    worst = max(left, key=lambda part: (part.p / part.most_p, -part.value), default=None)
    heaviest = sorted((-sum(part.arms), origin) for (origin, _), part in every.items())[:NAMED]
    return Replication(
        origins=len(every),
        own=sum(part.own for part in every.values()),
        new=any(record.trust == "mine" for record in held.records) and not any(part.own for part in obeying),
        shares=tuple(OriginShare(name=short_name(origin), episodes=-size) for size, origin in heaviest),
        left_out=short_name(worst.origin) if worst else "",
        risk_difference=min((part.value for part in left), default=0.0),
        low=min((part.low for part in left), default=0.0),
        p=worst.p if worst else 0.0,
        most_p=worst.most_p if worst else 1.0,
    )


def stands(left: Replication, least_difference: float) -> bool:
    """Tell whether a claim holds without the logs of any single origin."""
    enough = left.most_p == NOT_AGAINST or left.risk_difference >= least_difference
    return left.p <= left.most_p and (not left.left_out or enough)


def _by_origin(held: ClaimedEpisodes) -> dict[_Key, _Origin]:
    """Count both arms by origin and stratum."""
    origin_of = origins_of(held.records)
    counts: defaultdict[_Key, defaultdict[Stratum, list[list[float]]]]
    counts = defaultdict(lambda: defaultdict(lambda: [[], []]))
    for record, moment in zip(held.records, held.moments, strict=True):
        if moment is not None:
            outcomes = counts[origin_of(record), record.trust][held.stratum_of(record)]
            outcomes[moment.obeyed].append(outcome_of(record))
    return {
        key: _Origin(key[1], {stratum: _table(*arms) for stratum, arms in strata.items()})
        for key, strata in counts.items()
    }


def _table(disobeyed: Sequence[float], obeyed: Sequence[float]) -> Table:
    squares = sum(outcome * outcome for outcome in (*obeyed, *disobeyed))
    return Table(len(obeyed), sum(obeyed), len(disobeyed), sum(disobeyed), squares)


def _left(every: Mapping[_Key, _Origin], own_p: float) -> Iterator[_Left]:
    """Compare the arms without each origin that could carry the figure."""
    obeyed, disobeyed = (sum(part.arms[arm] for part in every.values()) for arm in (0, 1))
    for key, part in sorted(every.items()):
        if part.arms[0] >= CARRYING * obeyed or part.arms[1] >= CARRYING * disobeyed:
            rest = [every[at] for at in sorted(every) if at != key and (every[at].own or not part.own)]
            left = _shown(key[0], rest, part.trust, own_p)
            if left is not None:
                yield left


def _shown(origin: str, rest: Sequence[_Origin], trust: Trust, own_p: float) -> _Left | None:
    """Compare the arms in the other origins; None where one's own are too few to answer, or bear it out."""
    strata: defaultdict[Stratum, list[Table]] = defaultdict(list)
    for other in rest:
        for stratum, table in other.tables.items():
            strata[stratum].append(table)
    joined = [Table(*map(sum, zip(*parts, strict=True))) for _, parts in sorted(strata.items())]
    most_p = OTHERS_P.get(trust, own_p)
    if trust == "mine" and not _comparable(joined):
        return None if _borne_out(joined) else _Left(origin, 0.0, -1.0, 1.0, most_p)
    difference = risk_difference(joined)
    if difference is None:
        return _Left(origin, 0.0, -1.0, 1.0, most_p)
    return _Left(origin, difference.value, difference.low, one_sided_p(cmh_z(joined)), most_p)


def _comparable(tables: Iterable[Table]) -> bool:
    """Tell whether both arms are large enough where they meet."""
    met = [(table.n1, table.n0) for table in tables if table.n1 and table.n0]
    return min(map(sum, zip(*met, strict=True)), default=0) >= WRITTEN_RULE.least_arm


def _borne_out(tables: Iterable[Table]) -> bool:
    """Tell whether arms that cannot be compared are few, or others do the same and fare no worse, all in all.

    Where runs have habits, one always looks and another never does: neither can compare, and yet it is no single
    writer's word that looking exists (measured on recorded runs).
    """
    n1, y1, n0, y0, _ = map(sum, zip(Table(), *tables, strict=True))
    if n1 + n0 < NOTICED:
        return True
    return n1 >= LEAST_OBEDIENT and y1 * n0 >= y0 * n1
