"""The Merkle tree over event hashes: one root for any number of events, and short proofs that it is honest.

The tree is that of RFC 9162, section 2.1 (the same as RFC 6962): a leaf is SHA-256(0x00 ‖ event hash), a node is
SHA-256(0x01 ‖ left ‖ right), and a tree of n leaves is divided at the largest power of two below n. No tree is
ever in memory: a root needs the roots of perfect subtrees, one for each bit of the size, and a proof is read off
in one pass over the leaves.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    Span = tuple[int, int]
    """A subtree, by its first leaf and the one behind its last; leaves count from 0."""

EMPTY: Final = sha256(b"").digest()
"""The root of no leaves."""

HASH_BYTES: Final = 32
_BATCH: Final = 1_024
"""Leaves hashed level by level in one go, where a frontier allows it: a third of the time of one by one."""


def leaf_hash(leaf: bytes) -> bytes:
    """Hash a leaf."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two subtrees into the one above them."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: what has to be remembered of all leaves so far.

    `peaks` are the roots of the perfect subtrees that the leaves divide into, largest first: one for each 1 in
    the binary form of `size`.
    """

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if size < 0 or size.bit_count() != len(peaks) or any(len(peak) != HASH_BYTES for peak in peaks):
            raise ValueError(f"{len(peaks)} peaks are not the frontier of {size} leaves")
        self.size = size
        self._peaks = list(peaks)

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """The roots of the perfect subtrees, largest first."""
        return tuple(self._peaks)

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaves behind the last one."""
        coming = iter(leaves)
        while batch := list(islice(coming, _BATCH - self.size % _BATCH)):
            if len(batch) == _BATCH:
                self._push(_perfect(batch), _BATCH)
            else:
                for leaf in batch:
                    self._push(leaf_hash(leaf), 1)

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        if not self._peaks:
            return EMPTY
        root = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            root = node_hash(peak, root)
        return root

    def _push(self, subtree: bytes, leaves: int) -> None:
        """Add a perfect subtree, and join it with those of its size to the left."""
        self.size += leaves
        for _ in range(_trailing_zeros(self.size) - _trailing_zeros(leaves)):
            subtree = node_hash(self._peaks.pop(), subtree)
        self._peaks.append(subtree)


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Return the root over leaves."""
    frontier = Frontier()
    frontier.extend(leaves)
    return frontier.root()


def inclusion_path(index: int, size: int) -> list[Span]:
    """Name the subtrees whose roots prove that a leaf is in a tree, from the leaf upwards (RFC 9162, 2.1.3.1)."""
    _require(0 <= index < size, f"no leaf {index} in a tree of {size}")
    path, low, high = [], 0, size
    while high - low > 1:
        middle = low + _half(high - low)
        if index < middle:
            path.append((middle, high))
            high = middle
        else:
            path.append((low, middle))
            low = middle
    return path[::-1]


def consistency_path(first: int, second: int) -> list[Span]:
    """Name the subtrees whose roots prove that a tree grew out of a smaller one (RFC 9162, 2.1.4.1)."""
    _require(0 < first <= second, f"a tree of {second} does not grow out of one of {first}")
    path, low, high = [], 0, second
    while first < high:
        middle = low + _half(high - low)
        if first <= middle:
            path.append((middle, high))
            high = middle
        else:
            path.append((low, middle))
            low = middle
    if low:  # the smaller tree ends with this subtree; where it is that subtree, its root is known already
        path.append((low, high))
    return path[::-1]


def subtree_roots(leaves: Iterable[bytes], size: int, wanted: Collection[Span]) -> Mapping[Span, bytes]:
    """Return the root of the whole tree, and of every subtree that its proofs want, in one pass over the leaves.

    Shapes: wanted holds whole paths of the tree of `size` leaves, of any number of proofs.
    Raises: CorruptLogError if there are fewer leaves.
    """
    cuts = sorted({0, size, *(edge for span in wanted for edge in span)})
    coming = iter(leaves)
    roots: dict[Span, bytes] = {}
    for low, high in pairwise(cuts):
        frontier = Frontier()
        frontier.extend(islice(coming, high - low))
        if frontier.size != high - low:
            missing = low + frontier.size + 1
            raise CorruptLogError(f"event {missing} is missing", position=missing, hint="germline verify")
        roots[low, high] = frontier.root()
    _join(roots, (0, size))
    return roots


def _join(roots: dict[Span, bytes], span: Span) -> bytes:
    """Put the root of a subtree together from those below it.

    Paths divide a tree at its own joints, so between two neighbouring cuts there always lies one subtree.
    """
    if span not in roots:
        low, high = span
        middle = low + _half(high - low)
        roots[span] = node_hash(_join(roots, (low, middle)), _join(roots, (middle, high)))
    return roots[span]


def includes(root: bytes, size: int, leaf: bytes, index: int, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that a leaf is at an index of the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, computed = index, size - 1, leaf_hash(leaf)
    for step in proof:
        if not last:
            return False
        if node & 1 or node == last:
            computed = node_hash(step, computed)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            computed = node_hash(computed, step)
        node, last = node >> 1, last >> 1
    return not last and computed == root


def extends(first_root: bytes, first: int, second_root: bytes, second: int, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that the first leaves of a tree are another tree (RFC 9162, 2.1.4.2)."""
    if first == second:
        return not proof and first > 0 and first_root == second_root
    steps = [first_root, *proof] if first > 0 and not first & (first - 1) else list(proof)
    if not 0 < first < second or not steps:
        return False
    node, last = first - 1, second - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if not last:
            return False
        if node & 1 or node == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, step)
        node, last = node >> 1, last >> 1
    return not last and old == first_root and new == second_root


def _perfect(leaves: Sequence[bytes]) -> bytes:
    """Return the root over a power of two of leaves, level by level."""
    level = [sha256(b"\x00" + leaf).digest() for leaf in leaves]
    while len(level) > 1:
        pairs = iter(level)
        level = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return level[0]


def _half(size: int) -> int:
    """Return the largest power of two below a size of at least 2."""
    return 1 << (size - 1).bit_length() - 1


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 - it is the one thing it is given
    if not holds:
        raise ValueError(what)
