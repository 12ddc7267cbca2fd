"""Outlines: the little that many questions ask of a capsule, without its whole state."""

from __future__ import annotations

import json
from typing import NamedTuple


class Outline(NamedTuple):
    """What a capsule has come to.

    `changes` counts the events that changed it. `reverts` holds, for every version that went back, the one it
    went back to, oldest first; `retired` the versions that are no longer offered to agents.
    """

    changes: int = 0
    version: int = 0
    aliases: tuple[tuple[str, int], ...] = ()
    reverts: tuple[tuple[int, int], ...] = ()
    retired: tuple[int, ...] = ()

    def offered(self) -> tuple[int, ...]:
        """List the versions that agents may be given: the newest, and those that have a name; no retired one."""
        return tuple(sorted({self.version, *(version for _, version in self.aliases)} - set(self.retired)))

    def is_live(self, version: int) -> bool:
        """Tell whether what a version brought still counts, or a later one went back to before it.

        Going back to a version that had it brings it back.
        """
        return version <= self.version and not self.taken_back_by(version)

    def taken_back_by(self, version: int) -> int:
        """Name the version that went back to before this one, 0 where what it brought still counts."""
        latest = self.version
        for made, back_to in reversed(self.reverts):
            if version < made <= latest:
                latest = back_to
                if version > latest:
                    return made
        return 0

    def lineage(self) -> tuple[tuple[int, ...], ...]:
        """List the versions that the latest one comes from, oldest first; those that say the same stand together.

        What was taken back is none of them: a version that went back says what the one says that it went back to.
        """
        back = dict(self.reverts)
        generations: list[tuple[int, ...]] = []
        version = self.version
        while version:
            same = [version]
            while version in back:
                version = back[version]
                same.append(version)
            generations.append(tuple(reversed(same)))
            version -= 1
        return tuple(reversed(generations))

    def to_bytes(self) -> bytes:
        """Write it as the body of a document."""
        return json.dumps(self._asdict(), separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> Outline:
        """Read it back."""
        fields = json.loads(body)
        aliases = tuple((name, version) for name, version in fields["aliases"])
        reverts = tuple((made, back_to) for made, back_to in fields["reverts"])
        if not all(0 < back_to < made for made, back_to in reverts):
            raise ValueError(reverts)  # a lineage that leads nowhere
        return cls(fields["changes"], fields["version"], aliases, reverts, tuple(fields["retired"]))
