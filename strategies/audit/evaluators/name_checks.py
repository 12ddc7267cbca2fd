"""Names that are almost those of files which are there: one character off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.run_contrast import failures, holds

if TYPE_CHECKING:
    from collections.abc import Collection

    from strategies.audit.evaluators.evaluator_types import AuditMaterial

_LEAST_CHARS: Final = 5
"""Characters of a path below which one more or less is another name."""


def near_path(path: str, real: Collection[str], material: AuditMaterial) -> str:
    """Give the one real path that a path is a single character away from, "" where there is none, or several.

    A path that exists, that the task names, or that a run wrote, is no mistake. Digits tell files apart, so that a
    path which differs in one is a mistake only where it failed.
    """
    written = {*material.with_skill.files, *material.without_skill.files}
    if len(path) < _LEAST_CHARS or path in real or path in written or holds(material.prompt, path):
        return ""
    names = real if "/" in path else {other.rpartition("/")[2] for other in real}
    near = sorted(other for other in names if one_edit_apart(path, other)) if path not in names else []
    if len(near) != 1 or not near[0]:
        return ""
    by_digit = differs_in_digit(path, near[0])
    failed = any(holds(action.call, path) for action in failures(material.with_skill))
    return near[0] if failed or not by_digit else ""


def is_real_there(path: str, material: AuditMaterial) -> bool:
    """Tell whether a path is a file of the workspace, or one that the task asks for."""
    return path in material.workspace or any(path == wanted.path for wanted in material.requirements.deliverables)


def one_edit_apart(left: str, right: str) -> bool:
    """Tell whether one character put in, left out or changed, or two swapped neighbours, make one of the other."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    start = next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    if len(left) == len(right):
        rest, other = left[start:], right[start:]
        return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    return longer[start + 1 :] == shorter[start:]


def differs_in_digit(left: str, right: str) -> bool:
    """Tell whether the characters in which two names differ are digits."""
    ours = [char for char in left if char.isdigit()]
    return ours != [char for char in right if char.isdigit()]
