"""Arms: the versions of a skill that agents are run with, as folders that say nothing of which is which."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from events.errors import EditError
from registry.actions.publish import expected_files
from registry.decide.promote import whole, with_files
from registry.skill_md.disk import FileContent, write_skill
from registry.skill_md.skill_files import main_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from events.store.sql_log import EventLog
    from events.types.candidate_events import CandidateProposed
    from registry.state.capsule import Capsule


@dataclass(frozen=True)
class Arm:
    """One version that is run: its files by path, and the hash of all of them.

    `name` is how people and events call it; `standing` is part of the identity of its runs. Where `files` is
    None the agent runs without any skill.
    """

    name: str
    standing: str
    skill: str
    digest: str
    files: Mapping[str, FileContent] | None

    @cached_property
    def key(self) -> str:
        """What tells its runs from those of every other arm."""
        return f"{self.standing}:{self.digest}"


SEVERAL: Final = "skills"
"""The folder that holds several skills, and stands for the name of a skill where several are offered."""
NO_SKILL: Final = Arm(name="no skill", standing="no skill", skill="", digest="", files=None)


def incumbent(log: EventLog, capsule: Capsule) -> Arm:
    """Give the live version.

    Its runs belong to the version: after a promotion they are never found again, and the winner is measured again,
    because what was measured while it won was lucky more often than not.
    """
    label = f"{capsule.name}@{capsule.version}"
    return version_arm(log, capsule, name=label, standing=label)


def challenger(log: EventLog, capsule: Capsule, proposed: CandidateProposed) -> Arm:
    """Give the version that a candidate would be.

    Raises: EditError where an edit does not fit; NotFoundError for an unknown gene.
    """
    after = with_files(whole(capsule, proposed), proposed.files)
    return version_arm(log, after, name=proposed.candidate, standing="candidate")


def joint_challenger(log: EventLog, capsule: Capsule, proposals: Sequence[CandidateProposed]) -> Arm:
    """Give the version that several candidates would be together; one alone is that candidate's.

    Raises: EditError where they do not fit together; NotFoundError for an unknown gene.
    """
    first = proposals[0]
    if len(proposals) == 1:
        return challenger(log, capsule, first)
    if any(proposed.born or proposed.files or proposed.proposer != first.proposer for proposed in proposals):
        raise EditError("candidates that change files, bring a section or have another proposer are run apart")
    edits = tuple(edit for proposed in proposals for edit in proposed.edits)
    joint = challenger(log, capsule, first.model_copy(update={"edits": edits}))
    return replace(joint, name="+".join(proposed.candidate[:12] for proposed in proposals))


def without_line(log: EventLog, capsule: Capsule, gene: str, line: int) -> Arm:
    """Give the live version without one of its lines, which is named by its identity in its section."""
    genes = tuple(
        replace(each, lines=tuple(kept for kept in each.lines if kept.id != line)) if each.id == gene else each
        for each in capsule.genes
    )
    name = f"{capsule.name}@{capsule.version} without {gene}:{line}"
    return version_arm(log, replace(capsule, genes=genes), name=name, standing=name)


def offered_together(log: EventLog, capsules: Sequence[Capsule]) -> Arm:
    """Give the live versions of several skills as one arm, each in its own folder; one alone is that skill."""
    if not capsules:
        return NO_SKILL
    arms = [incumbent(log, capsule) for capsule in capsules]
    if len(arms) == 1:
        return arms[0]
    files = {f"{arm.skill}/{path}": file for arm in arms for path, file in (arm.files or {}).items()}
    digest = hashlib.sha256(json.dumps(sorted(arm.digest for arm in arms)).encode()).hexdigest()
    names = " + ".join(arm.name for arm in arms)
    return Arm(name=names, standing=names, skill=SEVERAL, digest=digest, files=files)


def version_arm(log: EventLog, capsule: Capsule, *, name: str, standing: str) -> Arm:
    """Give a version as it would be, without the stamp: arms differ in nothing but what is tested."""
    plain = replace(capsule, stamped=False, encoding="utf-8")
    files = expected_files(log, plain)
    listing = sorted((path, hashlib.sha256(file.body).hexdigest(), file.mode) for path, file in files.items())
    digest = hashlib.sha256(json.dumps(listing).encode()).hexdigest()
    return Arm(name=name, standing=standing, skill=capsule.name, digest=digest, files=files)


def write_arm(arm: Arm, place: Path) -> Path | None:
    """Write an arm's files below a folder, and return the folder of the skill; None for no skill at all.

    The folder bears the skill's name, as agents expect, below one that bears the hash; for instructions that of
    their file.
    """
    if arm.files is None:
        return None
    folder = place / arm.digest[:16] / arm.skill.rpartition("/")[2]
    last = max(arm.files) if arm.skill == SEVERAL else main_file(arm.skill)
    if not (folder / last).exists():
        files = {path: FileContent(file.body, file.mode) for path, file in arm.files.items()}
        write_skill(folder, files, durable=False)  # it goes with the runs
    return folder
