"""A run of one sign as long as strangers may write it keeps nobody waiting: it is looked through in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from registry.evidence.personal_details import personal_data_in
from registry.evidence.redaction import redact
from registry.skill_md.render import stamped_version
from registry.skill_md.rules import advise, check_skill
from strategies.audit.evaluators.passage_terms import exact_terms, path_terms
from strategies.scope.find_skills import task_words
from strategies.usage.action_names import ActionNames
from strategies.usage.handwritten_lines import reading_of
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH: Final = 200_000
"""What takes time with the square of it does not end within the limit of a test."""
RUNS: Final = ("x", " ", "0", "_", "-", "@", "/", "a.", "a ", "](", "[a](", "`", '"', "<", "\t", "\n", "- a\n")
NAMES: Final = ActionNames.of([episode([call("Bash:git commit"), call("Bash:pytest"), call("Read")])])


def _skill(text: str) -> str:
    return f"---\nname: probe\ndescription: Probes.\n---\n\n# Probe\n\n{text}\n"


READS: Final[dict[str, Callable[[str], object]]] = {
    "words to find it by": task_words,
    "stamp": lambda text: stamped_version(text, "probe"),
    "rules": lambda text: check_skill(_skill(text), "probe"),
    "advice": lambda text: advise(_skill(text)),
    "secrets": redact,
    "personal data": lambda text: personal_data_in([text]),
    "reading of a line": lambda text: reading_of(f"- Run `pytest` {text} first.", NAMES),
    "paths": lambda text: list(path_terms(text)),
    "terms": lambda text: list(exact_terms(text)),
}


@pytest.mark.parametrize("what", READS)
def test_a_long_run_of_one_sign_is_read_in_one_pass(what: str) -> None:
    for run in RUNS:
        READS[what](run * (LENGTH // len(run)))
