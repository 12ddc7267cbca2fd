"""What the store that everything rests on promises (`events/store/sql_log.py`), and the records that it gives.

Promises that every backend keeps (the contract suite in `tests/contract/` checks each of them):

1. Positions are 1, 2, 3 … without a gap; a reader that has seen position n has seen all before it.
2. `append` is all or nothing, and durable when it returns.
3. Each batch names the version it expects of every stream it writes; a mismatch is a `ConflictError`
   with both numbers, and nothing is written.
4. Event ids are unique. Appending the same ids again returns the first receipt; a part of them is a conflict.
5. Events are never changed or removed; the database itself refuses.
6. A projection's documents change in the transaction of the events they were folded from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from events.store.envelope import Envelope


class Head(NamedTuple):
    """The last event of the log: position 0 and the genesis hash for an empty one."""

    position: int
    hash: str


class Receipt(NamedTuple):
    """What an append wrote; `repeated` is true when the same event ids had been written before."""

    envelopes: tuple[Envelope, ...]
    repeated: bool = False


class StoredDocument(NamedTuple):
    """A piece of a projection: disposable, rebuilt from the log.

    Documents of one `view` and `key` form a sequence by `seq` (0 where there is only one). A tuple of the
    columns of their table, in order: a rebuild makes more of them than there are events.
    """

    view: str
    key: str
    seq: int
    body: bytes


class StoredEpisode(NamedTuple):
    """An episode as the registry keeps it; `body` is its record without text, `content_hash` covers it."""

    episode: str
    source: str
    body: bytes


class Problem(NamedTuple):
    """A place where the store does not hold what it promises; `position` 0 where no event is to blame.

    `kind` is one word where a checkpoint is contradicted (events/integrity/checkpoint.py), "" otherwise.
    """

    position: int
    what: str
    kind: str = ""


class Integrity(NamedTuple):
    """The result of a verification."""

    events: int
    head: Head
    problems: tuple[Problem, ...]
