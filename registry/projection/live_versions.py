"""Placed versions: what stood where a skill is projected, and since when, without a fold of every version."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.projection.stored_documents import read_back, row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.store.sql_log import EventLog
    from registry.state.capsule import Capsule
    from registry.state.line import SkillLine

_ANNOTATED: Final = re.compile(r"\n<!-- event \d+, [^\n]*-->(?=\n|$)")
"""The comments of `germline project --annotated`, which are no part of what the skill says."""
_BODIES_KEPT: Final = 32
"""How many bodies are remembered with what was made of them: session after session reads the same few skills."""
_GENES_KEPT: Final = 1_024
"""How many genes are remembered with their text: a rebuild meets them version after version (a guess)."""


class Placed(NamedTuple):
    """A version as it was made, or an alias as it moved: the latest version and all aliases as they were then.

    `at` is RFC 3339, UTC. `cause` and `body`, the hash of what the version says, are "" where an alias moved.
    `sole` is false where an alias offered another version beside the latest one.
    """

    at: str
    version: int
    sole: bool
    cause: str = ""
    body: str = ""


def placed_body(capsule: Capsule, at: str, *, made: bool) -> bytes:
    """Write the body of the document about a capsule after an event; `made` tells whether that made a version."""
    sole = all(version == capsule.version for _, version in capsule.aliases)
    cause, body = (capsule.cause, hash_of_said(capsule)) if made else ("", "")
    return f'["{at}",{capsule.version},{str(sole).lower()},"{cause}","{body}"]'.encode()


def placed_versions(log: EventLog, name: str) -> Iterator[Placed]:
    """Yield what stood on the path of a skill, oldest first."""
    for document in log.documents("placed", name):
        yield read_back(log, document, _placed_in)


def _placed_in(body: bytes) -> Placed:
    return Placed(*row(body, str, int, bool, str, str))


@lru_cache(maxsize=_BODIES_KEPT)
def body_hash(text: str) -> str:
    """Hash the body of a SKILL.md: without front matter, germline's comments, and space at the ends of lines."""
    return _hashed(_plain(_without_front_matter(text)))


def hash_of_said(capsule: Capsule) -> str:
    """Give `body_hash` of a projected capsule, from its genes: of these, an edit changes one or two."""
    if capsule.front:
        return _hashed("".join([_plain_lines(gene.lines) for gene in capsule.genes]))
    return body_hash("".join([line.text for gene in capsule.genes for line in gene.lines]))


@lru_cache(maxsize=_GENES_KEPT)
def _plain_lines(lines: tuple[SkillLine, ...]) -> str:
    return _plain("".join([line.text for line in lines]))


def _plain(text: str) -> str:
    """Take the space off the ends of lines; what follows begins a new line, as it did."""
    return "\n".join(map(str.rstrip, text.splitlines())) + "\n" * text.endswith("\n")


def _hashed(plain: str) -> str:
    body = _ANNOTATED.sub("", plain) if "<!-- event " in plain else plain
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def _without_front_matter(text: str) -> str:
    lines = text.lstrip().split("\n")
    if lines[0].strip() != "---":
        return text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    return text if end is None else "\n".join(lines[end + 1 :])
