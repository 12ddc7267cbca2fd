"""Rounds: prompts that go out together as one batch, and what becomes of each; resumable by the batch's name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import SpendingCapError
from events.model_errors import BatchPendingError, MalformedReplyError, ModelError, RequestRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from strategies.models.budget import SentBatch
    from strategies.models.prompts import Arrived, Endpoint, Prompt

_FIRST_LOOK_S: Final = 2.0
_LONGEST_LOOK_S: Final = 60.0
_LONGER: Final = 1.5
"""How often a batch is looked at: soon at first, then every minute (a guess: most take minutes to an hour)."""
_HASH_CHARS: Final = 56
"""An id in a batch has 64 characters at most (Message Batches API)."""


class BatchSlot(NamedTuple):
    """Where the result of a prompt will be found: a batch, and the id that it has there."""

    batch: str
    id: str


def ids_of(hashes: Iterable[str]) -> list[str]:
    """Give each prompt of a batch an id: its hash, and how many of the same came before it."""
    seen: Counter[str] = Counter()
    ids = []
    for name in hashes:
        ids.append(f"{name[:_HASH_CHARS]}-{seen[name]}")
        seen[name] += 1
    return ids


def places_of(prompts: Sequence[Prompt], batches: Mapping[str, SentBatch]) -> list[BatchSlot | None]:
    """Find the batches that were sent before and hold these prompts; each result is taken once."""
    left = {name: Counter(batch.left) for name, batch in batches.items()}
    slots: list[BatchSlot | None] = []
    for prompt in prompts:
        name = next((name for name, counts in left.items() if counts[prompt.hash]), None)
        if name is None:
            slots.append(None)
            continue
        batch = batches[name].sent.prompts
        number = batch.count(prompt.hash) - left[name][prompt.hash]
        left[name][prompt.hash] -= 1
        slots.append(BatchSlot(name, f"{prompt.hash[:_HASH_CHARS]}-{number}"))
    return slots


class PromptEnd(NamedTuple):
    """What became of a prompt, for good; `batch` is "" where none came about."""

    batch: str
    what: Arrived | ModelError


@dataclass(frozen=True)
class Round:
    """Prompts that are answered by batches: those that were sent before, and new ones for the rest.

    `send` sends prompts of one model as a batch and returns its name; what it raises falls on those prompts alone.
    """

    endpoint: Endpoint
    send: Callable[[Sequence[Prompt]], str]
    wait_s: float
    pause: Callable[[float], None]

    def ends(
        self, prompts: Sequence[Prompt], batches: Mapping[str, SentBatch]
    ) -> list[PromptEnd | ModelError | SpendingCapError]:
        """Tell what became of each prompt; another error than `PromptEnd` leaves its batch open."""
        places = places_of(prompts, batches)
        ends: dict[int, PromptEnd | ModelError | SpendingCapError] = {}
        for group in _by_model(prompts, places):
            try:
                batch = self.send([prompts[at] for at in group])
            except SpendingCapError as error:
                ends |= dict.fromkeys(group, error)
                continue
            except ModelError as error:
                ends |= dict.fromkeys(group, PromptEnd("", error))
                continue
            for at, name in zip(group, ids_of(prompts[at].hash for at in group), strict=True):
                places[at] = BatchSlot(batch, name)
        for batch in dict.fromkeys(place.batch for place in places if place):
            ends |= self._collect(
                batch, {at: place.id for at, place in enumerate(places) if place and place.batch == batch}
            )
        return [ends[at] for at in range(len(prompts))]

    def _collect(self, batch: str, ids: Mapping[int, str]) -> dict[int, PromptEnd | ModelError]:
        """Take the results of one batch; one that its server does not know has ended, and gave nothing."""
        try:
            answers = collected(self.endpoint, batch, list(ids.values()), wait_s=self.wait_s, pause=self.pause)
        except RequestRefusedError as error:
            return {at: PromptEnd(batch, error) for at in ids}
        except ModelError as error:
            return dict.fromkeys(ids, error)
        return {at: PromptEnd(batch, answers[name]) for at, name in ids.items()}


def _by_model(prompts: Sequence[Prompt], places: Sequence[BatchSlot | None]) -> list[list[int]]:
    """Group the prompts that have no place yet: one batch tells of one role and one model."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at, place in enumerate(places):
        if place is None:
            groups.setdefault((prompts[at].role, prompts[at].model), []).append(at)
    return list(groups.values())


def collected(
    endpoint: Endpoint, batch: str, ids: Sequence[str], *, wait_s: float, pause: Callable[[float], None]
) -> dict[str, Arrived | ModelError]:
    """Wait until a batch has ended, and return what became of these prompts.

    Raises: BatchPendingError once it was waited for as long as it may; what the endpoint raises.
    """
    waited_s, look_s = 0.0, _FIRST_LOOK_S
    while not endpoint.has_ended(batch):
        if waited_s >= wait_s:
            raise _pending(batch, waited_s)
        pause(look_s)
        waited_s += look_s
        look_s = min(look_s * _LONGER, _LONGEST_LOOK_S)
    results = dict(endpoint.results(batch))
    silent = MalformedReplyError(
        f"batch {batch} has ended and holds no result for the prompt that can be read", unsettled=1
    )
    return {name: results.get(name, silent) for name in ids}


def _pending(batch: str, waited_s: float) -> BatchPendingError:
    error = BatchPendingError(
        f"batch {batch} is not done after {waited_s:,.0f} s (models.batch_wait_s); it goes on by itself",
        hint="the same command later on takes its results",
    )
    error.batch = batch
    return error
