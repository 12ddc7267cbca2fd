"""A model as researcher: it reads the files that may change and what was tried, and suggests one experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.models.prompts import NOTICE, untrusted
from strategies.models.protocol import ModelMessage, Reply, Request, TextBlock
from strategies.models.tasks.ask_training import attempt_shown
from strategies.models.tasks.research_case import SuggestedExperiment

if TYPE_CHECKING:
    from strategies.models.protocol import Model
    from strategies.models.tasks.research_case import PastExperiment, ResearchCase

_SYSTEM: Final = """\
You improve files by experiments. You see the files that you may change, how they are measured, what their owner
wants and every experiment so far. Suggest one experiment: of one idea, the smallest change that is likely to move
the measure. It is measured many times beside the files as they are, and kept only where that surely shows a gain.
What the files give must stay the same unless their owner says otherwise.

Give the reason first, in a sentence. Each edit names a path, a text that is in that file exactly once, copied with
its line ends and indentation, and what takes its place. All other files are out of reach. Give no edits where
nothing is left that is worth a try."""
_MOST_TOKENS: Final = 8_000
_MOST_FILE_CHARS: Final = 60_000
_MOST_PAST_CHARS: Final = 12_000
"""Room for files and experiments (guesses, as in ask_training.py)."""


def suggest_experiment(model: Model, case: ResearchCase) -> Reply[SuggestedExperiment]:
    """Ask for one experiment; raises what `Model.ask_all` raises, and the error that came in place of a reply."""
    (reply,) = model.ask_all([_asked(case)])
    if not isinstance(reply, Reply):
        raise reply
    return reply


def _asked(case: ResearchCase) -> Request[SuggestedExperiment]:
    files = "\n\n".join(
        f"{file.path}, of which one line may change, or {file.most_changed:,} characters:\n"
        f"{untrusted(file.path, file.text, most_chars=_MOST_FILE_CHARS)}"
        for file in case.files
    )
    runs = "\n\n".join(attempt_shown(number, attempt) for number, attempt in enumerate(case.attempts, start=1))
    past = "\n".join(map(_past, case.past))
    blocks = [f"{case.target} is measured by {case.measured_by}."]
    blocks += [f"What its owner wants:\n{case.steering}"] if case.steering else []
    blocks += [runs] if runs else []
    blocks += (
        [f"Experiments so far.\n{untrusted('experiments', past, most_chars=_MOST_PAST_CHARS)}"] if past else []
    )
    blocks.append(f"Suggest experiment {case.experiment}.")
    return Request(
        role="proposer",
        system=(TextBlock(f"{_SYSTEM}\n\n{NOTICE}", cache=True),),
        messages=(ModelMessage("user", (TextBlock(files, cache=True), TextBlock("\n\n".join(blocks)))),),
        answer=SuggestedExperiment,
        max_tokens=_MOST_TOKENS,
        again=True,
    )


def _past(past: PastExperiment) -> str:
    figures = "" if past.before is None or past.after is None else f", {past.before:.6g} → {past.after:.6g}"
    return f"{past.experiment}. {past.verdict}{figures}: {', '.join(past.paths)}: {past.reason}; {past.why}"
