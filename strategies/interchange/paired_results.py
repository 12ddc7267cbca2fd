"""Results of other tools, read as scores: which task, which side, which seed, and what it came to.

Sources: skill-creator's `benchmark.json` (anthropics/skills, references/schemas.md); `promptfoo eval --output
results.json`; `results.jsonl` of SkillOpt's rollouts and the outcomes that its evalkit compares; the run folder of
GEPA (`gepa_run`); and any CSV, TSV, JSON or JSON lines with a row for each run, or for each task with both sides.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import UnreadableLogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MOST_BYTES: Final = 256 * 1024 * 1024
BEFORE: Final = ("before", "without_skill", "old_skill", "baseline", "control", "incumbent", "seed", "old", "a")
"""What tools call the side that was there first, in any case."""
AFTER: Final = ("after", "with_skill", "new_skill", "candidate", "treatment", "best", "new", "b")
"""What they call the side that is to replace it."""

_TASK: Final = ("task", "task_id", "id", "eval_id", "example", "case", "question_id", "instance_id")
_SIDE: Final = ("side", "arm", "configuration", "config", "variant", "version", "condition", "group")
_SCORE: Final = ("score", "outcome", "reward", "pass_rate", "hard", "passed", "success", "correct", "value")
_SEED: Final = ("seed", "run_number", "run", "round", "repeat", "trial")
_WORDS: Final = {"true": 1.0, "pass": 1.0, "passed": 1.0, "yes": 1.0, "false": 0.0, "fail": 0.0, "failed": 0.0}
_NOTHING: Final = ("", "none", "null", "nan", "n/a", "error")
_HINT: Final = "a row for each run: task, side, score, and seed where there are several"

Json = object


class SideScore(NamedTuple):
    """One run: what it came to, in [0, 1], or None where it was lost; `seed` is "" where none is named."""

    task: str
    side: str
    seed: str
    score: float | None


@dataclass(frozen=True)
class SideScores:
    """All runs that a file holds, in its order, and the format that it was read as.

    `choices` counts the candidates from which the later side was chosen by these same scores.
    """

    format: str
    runs: tuple[SideScore, ...]
    choices: int = 1

    @property
    def sides(self) -> tuple[str, ...]:
        """Name the sides, in the order in which they come."""
        return tuple(dict.fromkeys(run.side for run in self.runs))

    def named(self, side: str) -> SideScores:
        """Call every run by this side, where the file holds one side alone."""
        return replace(self, runs=tuple(run._replace(side=side) for run in self.runs))


def read_side_scores(raw: bytes, name: str, most: float = 1.0) -> SideScores:
    """Read a file of results.

    Units: `most` is the score of a perfect run; scores are divided by it.
    Raises: UnreadableLogError, with what is wrong and where, for anything that is not wholly such a file.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _broken(name, f"byte {error.start:,} is no UTF-8") from error
    if text.lstrip()[:1] in {"{", "["}:
        format_name, runs = _json(text, name, most)
    else:
        format_name, runs = "table", tuple(_table(text, name, most))
    if not runs:
        raise _broken(name, "it holds no run")
    return SideScores(format_name, _numbered(runs))


def _broken(name: str, what: str) -> UnreadableLogError:
    return UnreadableLogError(f"{name} does not read as results of runs: {what}", hint=_HINT)


def _json(text: str, name: str, most: float) -> tuple[str, tuple[SideScore, ...]]:
    try:
        whole: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        if "\n" not in text.strip():
            raise _broken(name, f"it is no JSON: {error}") from error
        return "JSON lines", tuple(_rows(_json_lines(text, name), name, most))
    if isinstance(whole, dict):
        if isinstance(runs := whole.get("runs"), list):
            return "skill-creator", tuple(_benchmark(runs, name, most))
        results = whole.get("results")
        if isinstance(results, dict) and isinstance(results.get("results"), list):
            return "promptfoo", tuple(_promptfoo(results["results"], name, most))
        outcomes = whole.get("outcomes", whole)
        if isinstance(outcomes, dict) and all(_is_outcome(value) for value in outcomes.values()):
            return "SkillOpt evalkit", tuple(_evalkit(outcomes, name, most))
        whole = [whole]
    if not isinstance(whole, list):
        raise _broken(name, "it is neither a list nor an object")
    return "JSON", tuple(_rows([(f"row {at}", row) for at, row in enumerate(whole, start=1)], name, most))


def _json_lines(text: str, name: str) -> Iterator[tuple[str, Json]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield f"line {number:,}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _broken(name, f"line {number:,} is no JSON: {error}") from error


def _table(text: str, name: str, most: float) -> Iterator[SideScore]:
    heading = text.partition("\n")[0]
    separator = max(",\t;", key=heading.count)
    try:
        reader = csv.DictReader(text.splitlines(), delimiter=separator, strict=True)
        rows = [(f"line {reader.line_num:,}", dict(row)) for row in reader]
    except csv.Error as error:
        raise _broken(name, str(error)) from error
    yield from _rows(rows, name, most)


def _rows(rows: Iterable[tuple[str, Json]], name: str, most: float) -> Iterator[SideScore]:
    """Read rows of one run each, or of one task with a column for each side."""
    for where, row in rows:
        if not isinstance(row, dict):
            raise _broken(name, f"{where} is no object")
        cells = {str(key).strip().casefold(): value for key, value in row.items() if key is not None}
        task = _first(cells, _TASK)
        if task is None:
            raise _broken(name, f"{where} names no task; its columns are {', '.join(cells) or 'none'}")
        seed = _text(_first(cells, _SEED))
        before, after = ([key for key in names if key in cells] for names in (BEFORE, AFTER))
        if before and after:
            for side in (before[0], after[0]):
                yield SideScore(_text(task), side, seed, _score(cells[side], name, where, most))
            continue
        scores = [key for key in _SCORE if key in cells]
        if not scores:
            raise _broken(name, f"{where} has no score; its columns are {', '.join(cells)}")
        score = _score(cells[scores[0]], name, where, most)
        yield SideScore(_text(task), _text(_first(cells, _SIDE)), seed, score)


def _benchmark(runs: Sequence[Json], name: str, most: float) -> Iterator[SideScore]:
    for at, run in enumerate(runs, start=1):
        where = f"run {at}"
        result = run.get("result") if isinstance(run, dict) else None
        if not isinstance(run, dict) or not isinstance(result, dict) or "pass_rate" not in result:
            raise _broken(name, f"{where} has no result.pass_rate")
        task = _text(_first(run, ("eval_id", "eval_name")))
        score = _score(result["pass_rate"], name, where, most)
        yield SideScore(task, _text(run.get("configuration")), _text(run.get("run_number")), score)


def _promptfoo(results: Sequence[Json], name: str, most: float) -> Iterator[SideScore]:
    """Read the table of promptfoo: sides are its prompts or its providers, whichever differ, or both."""
    rows = [row for row in results if isinstance(row, dict)]
    if len(rows) < len(results):
        raise _broken(name, "a result is no object")
    prompts = {_text(row.get("promptIdx")): _label(row.get("prompt")) for row in rows}
    providers = {_label(row.get("provider")) for row in rows}
    unlike = len(set(prompts.values())) == len(prompts)
    for at, row in enumerate(rows, start=1):
        number = _text(row.get("promptIdx"))
        prompt = prompts[number] if unlike and prompts[number] else f"prompt {number}"
        provider = _label(row.get("provider"))
        both = [part for part, many in ((provider, len(providers) > 1), (prompt, len(prompts) > 1)) if many]
        lost = row.get("error") and not row.get("gradingResult")
        score = None if lost else _score(row.get("score", row.get("success")), name, f"result {at}", most)
        task = _canonical(row["vars"]) if row.get("vars") else _text(row.get("testIdx"))
        yield SideScore(task, " ".join(both), "", score)


def _label(value: Json) -> str:
    if isinstance(value, dict):
        return _text(value.get("label") or value.get("id"))
    return _text(value)


def _evalkit(outcomes: Mapping[str, Json], name: str, most: float) -> Iterator[SideScore]:
    for task, value in outcomes.items():
        each = value if isinstance(value, list) else [value]
        for seed, outcome in enumerate(each):
            seed_name = str(seed) if len(each) > 1 else ""
            yield SideScore(task, "", seed_name, _score(outcome, name, f"task {task}", most))


def _is_outcome(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, bool | int | float | None) for each in value)
    return isinstance(value, bool | int | float)


def _first(cells: Mapping[str, Json], names: Sequence[str]) -> Json:
    return next((cells[key] for key in names if cells.get(key) not in (None, "")), None)


def _text(value: Json) -> str:
    return "" if value is None else str(value).strip()


def _canonical(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _score(value: Json, name: str, where: str, most: float) -> float | None:
    """Read a score; None where the run was lost."""
    if value is None:
        return None
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _NOTHING:
            return None
        if word in _WORDS:
            return _WORDS[word]
    try:
        score = float(value) / most  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _broken(name, f"in {where} the score is {str(value)[:40]!r}") from None
    if not 0 <= score <= 1:
        hint = "scores lie between 0 and 1; --most 100 divides scores of up to 100"
        raise UnreadableLogError(f"{name}: in {where} the score is {value}", hint=hint)
    return score


def _numbered(runs: Sequence[SideScore]) -> tuple[SideScore, ...]:
    """Number runs of one side on one task that name no seed, or the same one again."""
    seen: Counter[tuple[str, str, str]] = Counter()
    repeated = Counter((run.task, run.side, run.seed) for run in runs)
    numbered = []
    for run in runs:
        key = (run.task, run.side, run.seed)
        seen[key] += 1
        again = f"{run.seed}#{seen[key]}" if run.seed else f"#{seen[key]}"
        numbered.append(run._replace(seed=again) if repeated[key] > 1 or not run.seed else run)
    return tuple(numbered)
