"""Declarative checks of what an agent left behind: data alone, so that they can be hashed, locked and shown."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

import re2
from pydantic import AfterValidator, Field

from events.types.frozen import Frozen

MAX_LIMIT_S: Final = 24 * 3600.0
"""A day: no task, grader or check may ask for more (guess)."""
_MAX_PATTERN_CHARS: Final = 4_000
_MAX_TEXT_CHARS: Final = 100_000
_MAX_ARGUMENTS: Final = 200


def _contained(path: str) -> str:
    """Refuse a path that is absolute, climbs out, or is not written in its shortest form."""
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or str(pure) != path or not path.isprintable():
        raise ValueError(f"{path!r} is no plain relative path: write it like `folder/file.txt`, without `..`")
    return path


def _compiles(pattern: str) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"{pattern!r} is no pattern of RE2, which has no look-around: {error}") from error
    return pattern


RelativePath = Annotated[str, AfterValidator(_contained), Field(min_length=1, max_length=500)]
"""A path below a folder that is known elsewhere; symbolic links are refused where the file is read."""
AnswerOrPath = RelativePath | Literal[""]
"""A file of the workspace, or "" for the answer that the agent printed."""
Argv = Annotated[
    tuple[Annotated[str, Field(max_length=_MAX_TEXT_CHARS)], ...], Field(min_length=1, max_length=_MAX_ARGUMENTS)
]
"""A command as an argument list; no shell reads it. `{workspace} {answer_file} {files}` are filled in."""
Pattern = Annotated[str, AfterValidator(_compiles), Field(min_length=1, max_length=_MAX_PATTERN_CHARS)]
"""A regular expression of RE2, which takes linear time whatever an agent wrote."""
JsonType = Literal["string", "number", "integer", "boolean", "null", "array", "object"]


class Fixture(Frozen):
    """A file below the folder of the task set, locked by the hash it had when the set was loaded."""

    path: RelativePath
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    executable: bool = False


class _Named(Frozen):
    name: Annotated[str, Field(max_length=200)] = ""


class FileExists(_Named):
    """The file is there."""

    kind: Literal["exists"] = "exists"
    path: RelativePath


class Matches(_Named):
    """The pattern (RE2) is found anywhere in the file or answer."""

    kind: Literal["matches"] = "matches"
    path: AnswerOrPath = ""
    pattern: Pattern


class FirstLine(_Named):
    """The first line is exactly this: the header of a table, a shebang."""

    kind: Literal["first_line"] = "first_line"
    path: AnswerOrPath = ""
    line: Annotated[str, Field(min_length=1, max_length=_MAX_TEXT_CHARS)]


class OneOf(_Named):
    """The text, without the white space around it, or the JSON value under `key` is one of these."""

    kind: Literal["one_of"] = "one_of"
    path: AnswerOrPath = ""
    key: Annotated[str, Field(max_length=500)] = ""
    values: Annotated[tuple[str, ...], Field(min_length=1, max_length=1_000)]


class JsonShape(_Named):
    """The text is JSON and holds these keys (`a.b` is b inside a, `0` the first of an array), each of its type."""

    kind: Literal["json"] = "json"
    path: AnswerOrPath = ""
    required: Annotated[dict[str, JsonType], Field(max_length=200)] = Field(default_factory=dict)


class CommandExits(_Named):
    """The command, run in a copy of the workspace, ends with this exit code; `uses` are files that it reads."""

    kind: Literal["command"] = "command"
    argv: Argv
    uses: Annotated[tuple[Fixture, ...], Field(max_length=100)] = ()
    exit_code: Annotated[int, Field(ge=0, le=255)] = 0
    limit_s: Annotated[float, Field(gt=0, le=MAX_LIMIT_S)] = 30.0


Check = Annotated[FileExists | Matches | FirstLine | OneOf | JsonShape | CommandExits, Field(discriminator="kind")]


def check_name(check: Check) -> str:
    """Name a check as its author did, or by what it looks at."""
    if check.name:
        return check.name
    if isinstance(check, CommandExits):
        return f"command {' '.join(check.argv)[:60]}"
    return f"{check.kind} {check.path or 'answer'}"
