"""Forms of answer that always failed: a line for a person to judge, since no claim of ours can be tested on it."""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.claims.output import avoided_form_line
from strategies.episodes.answer_forms import FORMS
from strategies.gate.replay.contrast import outcome_of
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.placement import appended, home_of
from strategies.propose.proposal import FOR_A_PERSON, Mined, UnmeasuredEdits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import ProposalRequest

CHANCE: Final = 1e-3
"""How likely it may be, at the rates at which other answers of the same runs succeed, that all of them failed."""
_NO_MORE: Final = 0.999
"""The rate of success at most that is taken for a run of which every other answer succeeded."""


class _FatalForm(NamedTuple):
    """A form that always failed: how often, and how many of these answers would have succeeded like others."""

    form: str
    answers: int
    expected: float


def fatal_forms(ask: ProposalRequest) -> Mined:
    """Propose, for a person, not to answer in a form in which every answer failed though others succeed.

    An answer in that form may be what an agent gives who does not know: logs cannot tell, so none promotes it.
    It is proposed once, whatever became of it.
    """
    if ask.capsule is None:
        return Mined(None, 0, None)
    known = {edit for past in ask.tried for edit in past.edits}
    home = home_of(ask.capsule, ask.signal.fingerprint, ask.signal.action)
    for fatal in _fatal(ask.explore.judged) if home is not None else ():
        edit = appended(ask.capsule, home, [avoided_form_line(fatal.form)]) if home else None
        if edit is not None and edit not in known:
            reason = (
                f"explore: {fatal.answers} of {fatal.answers} answers in this form failed; at the rate of other "
                f"answers of the same runs {fatal.expected:.0f} would have succeeded"
            )
            proposal = UnmeasuredEdits(
                proposer="fatal_forms", reason=reason, lines=(), edits=(edit,), why=FOR_A_PERSON
            )
            return Mined(proposal, 0, None)
    return Mined(None, 0, None)


def _fatal(records: Sequence[EpisodeRecord]) -> list[_FatalForm]:
    """Find the forms, most answers first."""
    answered = [record for record in records if record.answer_forms]
    judged = [fatal for form in FORMS if (fatal := _judged(form, answered)) is not None]
    return sorted(judged, key=lambda fatal: (-fatal.answers, fatal.form))


def _judged(form: str, answered: Iterable[EpisodeRecord]) -> _FatalForm | None:
    """Compare the answers in a form with others of their runs; None where one succeeded, or chance explains it."""
    those: list[EpisodeRecord] = []
    others: dict[str, list[float]] = {}
    for record in answered:
        if _has(record, form):
            those.append(record)
        else:
            others.setdefault(record.run, []).append(outcome_of(record))
    if len(those) < WRITTEN_RULE.least_arm or any(outcome_of(record) for record in those):
        return None
    rates = {run: min(sum(values) / len(values), _NO_MORE) for run, values in others.items()}
    expected = [rates.get(record.run, 0.0) for record in those]
    likely = sum(log1p(-rate) for rate in expected)
    return _FatalForm(form, len(those), sum(expected)) if likely <= log1p(CHANCE - 1) else None


def _has(record: EpisodeRecord, form: str) -> bool:
    return record.answer_forms == (form,) if form == "text" else form in record.answer_forms
