"""The vectors are those of the reference implementation of Certificate Transparency (merkletree tests)."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.errors import CorruptLogError
from events.integrity.merkle import (
    EMPTY,
    Frontier,
    consistency_path,
    extends,
    includes,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_of,
    subtree_roots,
)

LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
INCLUSIONS = {  # (index, size): proof
    (0, 1): (),
    (0, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (5, 8): (
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 3): ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",),
    (1, 5): (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}
CONSISTENCIES = {  # (first, second): proof
    (1, 1): (),
    (1, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (6, 8): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 5): (
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
    (6, 7): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
}
ALL = range(1, 34)
"""Sizes on both sides of five powers of two."""


def inclusion(leaves: list[bytes], index: int) -> list[bytes]:
    path = inclusion_path(index, len(leaves))
    roots = subtree_roots(leaves, len(leaves), path)
    return [roots[span] for span in path]


def consistency(leaves: list[bytes], first: int) -> list[bytes]:
    path = consistency_path(first, len(leaves))
    roots = subtree_roots(leaves, len(leaves), path)
    return [roots[span] for span in path]


def digests(count: int) -> list[bytes]:
    return [hashlib.sha256(b"event %d" % at).digest() for at in range(count)]


MANY = digests(3 * 2_100)


def recursive_root(leaves: list[bytes]) -> bytes:
    """The definition in RFC 9162, 2.1.1, as it is written."""
    if len(leaves) < 2:
        return leaf_hash(leaves[0]) if leaves else hashlib.sha256().digest()
    half = max(2**bit for bit in range(20) if 2**bit < len(leaves))
    return node_hash(recursive_root(leaves[:half]), recursive_root(leaves[half:]))


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_the_reference(size: int) -> None:
    assert root_of(LEAVES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_inclusion_proofs_are_those_of_the_reference(index: int, size: int) -> None:
    proof = inclusion(LEAVES[:size], index)
    assert tuple(step.hex() for step in proof) == INCLUSIONS[index, size]
    assert includes(bytes.fromhex(ROOTS[size]), size, LEAVES[index], index, proof)


@pytest.mark.parametrize(("first", "second"), CONSISTENCIES)
def test_consistency_proofs_are_those_of_the_reference(first: int, second: int) -> None:
    proof = consistency(LEAVES[:second], first)
    assert tuple(step.hex() for step in proof) == CONSISTENCIES[first, second]
    assert extends(bytes.fromhex(ROOTS[first]), first, bytes.fromhex(ROOTS[second]), second, proof)


def test_every_leaf_of_every_size_is_proven_and_no_other() -> None:
    for size in ALL:
        leaves = digests(size)
        root = recursive_root(leaves)
        for index in range(size):
            proof = inclusion(leaves, index)
            assert includes(root, size, leaves[index], index, proof)
            other = (index + 1) % size
            if size > 1:
                assert not includes(root, size, leaves[other], index, proof)
                assert not includes(root, size, leaves[index], other, proof)
                assert not includes(root, size, leaves[index], index, proof[:-1])
            assert not includes(root, size, leaves[index], index, [*proof, EMPTY])


def test_every_growth_is_proven_and_no_other() -> None:
    for second in ALL:
        leaves = digests(second)
        new = recursive_root(leaves)
        for first in range(1, second + 1):
            old, proof = recursive_root(leaves[:first]), consistency(leaves, first)
            assert extends(old, first, new, second, proof)
            assert not extends(leaf_hash(old), first, new, second, proof)
            assert not extends(old, first, leaf_hash(new), second, proof)
            assert not extends(old, first, new, second, [*proof, EMPTY])
            assert not proof or not extends(old, first, new, second, proof[:-1])


@given(st.data())
def test_a_proof_with_any_byte_changed_is_refused(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 200))
    leaves = digests(size)
    root = root_of(leaves)
    index = data.draw(st.integers(0, size - 1))
    first = data.draw(st.integers(1, size - 1))
    inside, grown = inclusion(leaves, index), consistency(leaves, first)
    old = root_of(leaves[:first])
    assert includes(root, size, leaves[index], index, inside)
    assert extends(old, first, root, size, grown)
    step, byte, bit = data.draw(st.tuples(st.integers(0, 7), st.integers(0, 31), st.integers(0, 7)))
    assert not includes(root, size, leaves[index], index, changed(inside, step, byte, bit))
    assert not extends(old, first, root, size, changed(grown, step, byte, bit))


def changed(proof: list[bytes], step: int, byte: int, bit: int) -> list[bytes]:
    step %= len(proof)
    flipped = bytearray(proof[step])
    flipped[byte] ^= 1 << bit
    return [*proof[:step], bytes(flipped), *proof[step + 1 :]]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 2_100), max_size=3))
def test_a_frontier_that_grows_in_any_portions_gives_the_root_over_all(portions: list[int]) -> None:
    leaves = MANY[: sum(portions)]
    frontier, at = Frontier(), 0
    for portion in portions:
        frontier = Frontier(frontier.size, frontier.peaks)
        frontier.extend(leaves[at : at + portion])
        at += portion
    assert frontier.size == len(leaves)
    assert len(frontier.peaks) == len(leaves).bit_count()
    assert frontier.root() == recursive_root(leaves)


def test_peaks_that_are_no_frontier_of_that_size_are_refused() -> None:
    for size, peaks in ((1, ()), (2, (EMPTY, EMPTY)), (1, (b"short",)), (-1, (EMPTY,))):
        with pytest.raises(ValueError, match="frontier"):
            Frontier(size, peaks)


def test_many_proofs_of_one_tree_are_read_off_in_one_pass() -> None:
    leaves = digests(77)
    paths = {index: inclusion_path(index, 77) for index in (0, 3, 31, 64, 76)}
    once = iter(leaves)
    roots = subtree_roots(once, 77, [span for path in paths.values() for span in path])
    assert list(once) == []
    for index, path in paths.items():
        assert includes(roots[0, 77], 77, leaves[index], index, [roots[span] for span in path])


def test_too_few_leaves_are_named_by_the_first_that_is_missing() -> None:
    with pytest.raises(CorruptLogError) as caught:
        subtree_roots(digests(6), 8, inclusion_path(2, 8))
    assert caught.value.position == 7


def test_what_is_not_in_a_tree_has_no_path() -> None:
    for index, size in ((8, 8), (-1, 8), (0, 0)):
        with pytest.raises(ValueError, match="no leaf"):
            inclusion_path(index, size)
        assert not includes(EMPTY, size, EMPTY, index, [])
    for first, second in ((0, 8), (9, 8)):
        with pytest.raises(ValueError, match="does not grow"):
            consistency_path(first, second)
        assert not extends(EMPTY, first, EMPTY, second, [])
