"""What a trial says of the episode that an agent's log holds: its task, its outcome, and what broke it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode import EndedBy, Episode, EpisodeOutcome, EpisodeRecord
from strategies.episodes.episode_records import content_hash, plain, plain_labels, task_key
from strategies.episodes.usage import NOTHING_SPENT, Usage, first_known, total
from strategies.files.log_records import count_unknown

if TYPE_CHECKING:
    from strategies.files.log_records import ReadTally

_PARENT: Final = "parent"
"""The label of what a sub-agent did."""


class BenchmarkTrial(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a trial. `reward` is None where nothing was verified, `ended_by` where nothing broke."""

    name: str
    dataset: str
    task: str
    agent: str
    model: str
    reward: float | None
    failure: str
    ended_by: EndedBy | None
    usage: Usage


def of_trial(episode: Episode | EpisodeRecord, trial: BenchmarkTrial, tally: ReadTally) -> Episode | EpisodeRecord:
    """Give an episode with what its trial says of it; that of a sub-agent is no trial."""
    if episode.labels.get(_PARENT):
        return episode
    reward = trial.reward
    outcome = episode.outcome
    if reward is not None and 0 <= reward <= 1:
        outcome = EpisodeOutcome(float(reward), "reward")
    elif reward is not None:
        count_unknown(tally, "outcome outside 0 to 1")
    named = {"trial": trial.name, "agent": trial.agent, "exception": trial.failure}
    labels = plain_labels({**episode.labels, **{name: value for name, value in named.items() if value}})
    usage = total([first_known(episode.usage or NOTHING_SPENT, trial.usage)])
    run, ended_by = episode.run or plain(trial.model), trial.ended_by or episode.ended_by
    if isinstance(episode, Episode):
        return msgspec.structs.replace(
            episode,
            dataset=trial.dataset,
            task=trial.task,
            run=run,
            labels=labels,
            outcome=outcome,
            ended_by=ended_by,
            usage=usage,
        )
    task = task_key(Episode(id="", source="", format="", dataset=trial.dataset, task=trial.task))
    record = msgspec.structs.replace(
        episode, task=task, run=run, labels=labels, outcome=outcome, ended_by=ended_by, usage=usage
    )
    return msgspec.structs.replace(record, id=content_hash(record))
