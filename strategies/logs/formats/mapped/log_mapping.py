"""`[logs.NAME]` of germline.toml: which files a mapping is for, and where their JSON says what."""

import re
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from events.errors import UsageError, did_you_mean
from strategies.episodes.episode import OutcomeSource
from strategies.files.compression import SUFFIXES
from strategies.logs.formats.mapped.json_paths import JsonPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_WILD: Final = re.compile(r"[*?\[]")
_ANY_DEPTH: Final = "**"
_ALIASES: Final = {"step": "steps", "role": "actor"}
_OTHERS: Final = frozenset(["name", "glob", "format", "success", "failure", "source"])
HINT: Final = "docs/mapping.md    germline scan --explain FILE"


def _path(text: str) -> str:
    return JsonPath(text).text


_Path = Annotated[str, AfterValidator(_path)]
_Words = tuple[bool | int | float | str, ...]


class LogMapping(BaseModel):
    """One mapping: `glob` says for which files, and either `format` how they are read, or paths what is where.

    Of a record: `records` is where the records of a document lie, `episode` names the episode that a record
    belongs to, `steps` where its steps are (none: the record is a step). Of a step: `actor` to `time`. `success`
    are values at `outcome` that mean 1, `failure` values at `error` that mean a failed call; without them words
    such as "passed" and "failed" are known. Times are RFC 3339, or numbers since 1970 in seconds to nanoseconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    glob: Annotated[str, Field(min_length=1)]
    format: str = ""
    records: _Path = ""
    episode: _Path = ""
    dataset: _Path = ""
    task: _Path = ""
    run: _Path = ""
    difficulty: _Path = ""
    prompt: _Path = ""
    started_at: _Path = ""
    outcome: _Path = ""
    success: _Words = ()
    source: OutcomeSource = "tests"
    steps: Annotated[_Path, Field(validation_alias=AliasChoices("steps", "step"))] = ""
    actor: Annotated[_Path, Field(validation_alias=AliasChoices("actor", "role"))] = ""
    text: _Path = ""
    tool: _Path = ""
    call_id: _Path = ""
    argument: _Path = ""
    result: _Path = ""
    error: _Path = ""
    failure: _Words = ()
    time: _Path = ""

    @classmethod
    def from_mapping(cls, name: str, given: "Mapping[str, object]", folder: Path) -> "LogMapping":
        """Read one table; a relative glob begins at `folder`. Raises: UsageError for what cannot be."""
        where = f"[logs.{name}]"
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{where}: no name for a mapping", hint="lowercase letters, digits, - and _: [logs.my-agent]"
            )
        if "name" in given:
            raise UsageError(
                f"{where} sets name, which germline does not know", hint="its name is that of its table"
            )
        try:
            mapping = cls.model_validate({**given, "name": name})
        except ValidationError as error:
            raise _refusal(error, where) from None
        paths = [key for key in cls.model_fields if key not in _OTHERS and getattr(mapping, key)]
        if mapping.format and paths:
            raise UsageError(
                f"{where} sets format and {', '.join(paths)}", hint="a format says already where everything lies"
            )
        if not mapping.format and not {"steps", "tool", "text"} & set(paths):
            raise UsageError(
                f"{where} does not say where steps are",
                hint='format = "chat", or tool = "…" and text = "…" of a step, and steps = "…" where they lie',
            )
        return mapping.model_copy(update={"glob": _absolute(mapping.glob, folder, where)})

    @property
    def digest(self) -> str:
        """What a reading by this mapping is known by: by another it is made again."""
        return blake2b(self.model_dump_json(exclude={"glob"}).encode(), digest_size=6).hexdigest()

    def claims(self, path: Path) -> bool:
        """Tell whether a file, by its resolved path, is one of the mapping's; compressed or not."""
        names = [path.name, *(path.name.removesuffix(suffix) for suffix in SUFFIXES if path.suffix == suffix)]
        pattern = Path(self.glob).parts
        return any(_matches((*path.parent.parts, name), pattern) for name in names)


def mapping_for(mappings: "Sequence[LogMapping]", path: Path) -> LogMapping | None:
    """Give the first mapping that claims a file."""
    return next((mapping for mapping in mappings if mapping.claims(path)), None)


def _absolute(glob: str, folder: Path, where: str) -> str:
    """Let a glob begin at its folder, links followed up to its first wildcard."""
    parts = (folder / Path(glob).expanduser()).parts
    wild = next((place for place, part in enumerate(parts) if _WILD.search(part)), len(parts))
    if ".." in parts[wild:]:
        raise UsageError(f"{where} sets glob to {glob!r}", hint="no .. behind a wildcard: logs/**/*.json")
    return str(Path(*parts[:wild]).resolve().joinpath(*parts[wild:]))


def _matches(parts: "Sequence[str]", pattern: "Sequence[str]") -> bool:
    """Tell whether a path fits a pattern, part by part; `**` is any number of parts."""
    last, places = len(pattern), {0}
    for part in parts:
        places = _with_skipped(places, pattern)
        places = {
            place if pattern[place] == _ANY_DEPTH else place + 1
            for place in places
            if place < last and (pattern[place] == _ANY_DEPTH or fnmatchcase(part, pattern[place]))
        }
    return last in _with_skipped(places, pattern)


def _with_skipped(places: set[int], pattern: "Sequence[str]") -> set[int]:
    """Add the places behind each `**`, which may be no part at all."""
    reached = set(places)
    for place in range(len(pattern)):
        if place in reached and pattern[place] == _ANY_DEPTH:
            reached.add(place + 1)
    return reached


def _refusal(error: ValidationError, where: str) -> UsageError:
    first = error.errors()[0]
    key = str(first["loc"][0])
    known = [*(key for key in LogMapping.model_fields if key != "name"), *_ALIASES]
    if key not in known:
        hint = did_you_mean(key, known)
        return UsageError(f"{where} sets {key}, which germline does not know", hint=hint)
    if first["type"] == "missing":
        return UsageError(f"{where} has no {key}", hint=f'{key} = "evals/**/*.json" says which files it is for')
    if isinstance(first["input"], dict):
        hint = 'a path is a text; those of a step stand beside it: steps = "events", tool = "name", result = "out"'
        return UsageError(f"{where} sets {key} to a table", hint=hint)
    if first["type"] == "extra_forbidden":
        return UsageError(f"{where} sets {key} twice, by another name too", hint=HINT)
    text = first["msg"].removeprefix("Value error, ")
    return UsageError(f"{where} sets {key} to {first['input']!r}: {text[:1].lower()}{text[1:]}", hint=HINT)
