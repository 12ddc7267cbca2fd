"""The layers of grading: declarative checks, scripts, commands and likeness, each with its own threshold."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.rollouts.run import harbor_script
from strategies.rollouts.run.container_verifier import Verified, verified_in_container
from strategies.rollouts.run.leftovers import look_with
from strategies.rollouts.run.run_checks import examine
from strategies.rollouts.tasks.check_types import check_name
from strategies.rollouts.tasks.task import ChecksGrader, HarborGrader, PythonGrader, SimilarityGrader
from strategies.rollouts.tasks.workspace import fixture_bytes
from strategies.sandbox.confined_run import program

if TYPE_CHECKING:
    from strategies.rollouts.run.leftovers import AgentWork, Look
    from strategies.rollouts.tasks.task import CommandGrader, OwnGrader

LENIENT: Final = 0.75
"""The share of layers that must pass for a lenient pass: 3 of 4."""
_BY_CHARACTER: Final = 400
"""Up to this length texts are compared character by character, above it word by word: difflib is quadratic."""
_MOST_WORDS: Final = 3_000
_NOTE_CHARS: Final = 300
NO_REWARD: Final = "the verifier wrote no reward"


class Graded(NamedTuple):
    """What one layer gave, why not more, and what it did that it should not have. Units: value in [0, 1]."""

    value: float
    note: str = ""
    tampering: tuple[str, ...] = ()


def grade(grader: OwnGrader, work: AgentWork) -> Graded:
    """Grade by one layer. A layer that reaches beyond its copy gives 0, whatever it says.

    Raises: RefusedError, NotFoundError, IsolationError, StorageError, CheckFailedError.
    """
    if isinstance(grader, ChecksGrader):
        return _checks(grader, work)
    if isinstance(grader, SimilarityGrader):
        return _similarity(grader, work)
    if isinstance(grader, HarborGrader):
        return rewarded(grader, work)
    if isinstance(grader, PythonGrader):
        argv = (program("python", work.policy), f"{{files}}/{grader.script.path}", *grader.arguments)
        return _graded(grader, look_with(work, argv, (grader.script, *grader.uses), grader.limit_s))
    argv = (program(grader.argv[0], work.policy), *grader.argv[1:])
    return _graded(grader, look_with(work, argv, grader.uses, grader.limit_s))


def rewarded(grader: HarborGrader, work: AgentWork, *, solved: bool = False) -> Graded:
    """Grade by the verifier of a Harbor task, or `solved` by it what its own solution makes of the workspace.

    Raises: as `grade`.
    """
    verified = (verified_in_container if grader.image else _verified_in_sandbox)(grader, work, solved=solved)
    if verified.tampering:
        return Graded(0.0, "stopped", verified.tampering)
    if not verified.reward:
        return Graded(0.0, f"{NO_REWARD}: {verified.output}"[:_NOTE_CHARS])
    given = _printed(verified.reward)
    if given.note:
        return given._replace(note=f"{NO_REWARD} from 0 to 1: {given.note}"[:_NOTE_CHARS])
    return given if given.value else given._replace(note=verified.output[:_NOTE_CHARS])


def _verified_in_sandbox(grader: HarborGrader, work: AgentWork, *, solved: bool) -> Verified:
    """Run a verifier with the programs of this machine."""
    folder = PurePosixPath(grader.script.path).parent.parent
    runner = (program("python", work.policy), "-I", str(Path(harbor_script.__file__)))
    scripts = ("solution/solve.sh", "tests/test.sh") if solved else ("tests/test.sh",)
    argv = (*runner, program("bash", work.policy), grader.workdir, f"{{files}}/{folder}", *scripts)
    uses = (grader.script, *grader.uses, *(grader.solution if solved else ()))
    look = look_with(work, argv, uses, grader.limit_s)
    reward = look.ran.stdout if look.ran.succeeded else ""
    return Verified(reward, look.ran.error or " ".join(look.ran.stderr.split()), look.tampering)


def alike(text: str, reference: str) -> float:
    """Tell how alike a text is to a reference, in [0, 1]; white space at the ends does not count.

    Source: difflib's ratio, over characters of short texts, else over words, of which the first 3,000 count.
    """
    left, right = text.strip(), reference.strip()
    if max(len(left), len(right)) <= _BY_CHARACTER:
        return SequenceMatcher(None, left, right, autojunk=False).ratio()
    return SequenceMatcher(None, left.split()[:_MOST_WORDS], right.split()[:_MOST_WORDS]).ratio()


def _checks(grader: ChecksGrader, work: AgentWork) -> Graded:
    results = [(check_name(check), examine(check, work)) for check in grader.checks]
    failed = [f"{name}: {result.note}" for name, result in results if not result.holds]
    tampering = tuple(f"{name}: {tried}" for name, result in results for tried in result.tampering)
    share = 1 - len(failed) / len(results)
    return Graded(0.0 if tampering else share, "; ".join(failed)[:_NOTE_CHARS], tampering)


def _similarity(grader: SimilarityGrader, work: AgentWork) -> Graded:
    text = work.text(grader.path)
    if text is None:
        return Graded(0.0, f"{grader.path} cannot be read")
    reference = grader.reference
    if not isinstance(reference, str):
        reference = fixture_bytes(work.task.folder, reference).decode(errors="replace")
    return Graded(alike(text, reference))


def _graded(grader: PythonGrader | CommandGrader, look: Look) -> Graded:
    ran = look.ran
    if look.tampering:
        return Graded(0.0, "stopped", look.tampering)
    if not ran.succeeded:
        last = (ran.error or ran.stderr or ran.stdout).strip().splitlines()[-1:]
        return Graded(0.0, f"exit code {ran.code}: {''.join(last)}"[:_NOTE_CHARS])
    if grader.scores == "exit_code":
        return Graded(1.0)
    return _printed(ran.stdout)


def _printed(stdout: str) -> Graded:
    """Read the last line as a number from 0 to 1; anything else is the grader's mistake, and counts as 0."""
    last = "".join(stdout.strip().splitlines()[-1:])
    try:
        value = float(last)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        return Graded(0.0, f"its last line is {last[:80]!r}, a number from 0 to 1 was expected")
    return Graded(value)
