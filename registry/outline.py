"""Outlines: the little that many questions ask of a capsule, without its whole state."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Outline:
    """What a capsule has come to.

    `changes` counts the events that changed it. `reverts` holds, for every version that went back, the one it
    went back to, oldest first.
    """

    changes: int = 0
    version: int = 0
    aliases: tuple[tuple[str, int], ...] = ()
    reverts: tuple[tuple[int, int], ...] = ()

    def is_live(self, version: int) -> bool:
        """Tell whether what a version brought still counts, or a later one went back to before it.

        Going back to a version that had it brings it back.
        """
        latest = self.version
        for made, back_to in reversed(self.reverts):
            if version < made <= latest:
                latest = back_to
        return version <= latest

    def to_bytes(self) -> bytes:
        """Write it as the body of a document."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> Outline:
        """Read it back."""
        fields = json.loads(body)
        aliases = tuple((name, version) for name, version in fields["aliases"])
        reverts = tuple((made, back_to) for made, back_to in fields["reverts"])
        return cls(fields["changes"], fields["version"], aliases, reverts)
