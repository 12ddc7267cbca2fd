"""What a comparison by runs depends on, hashed: the harness, the evaluator, and the comparison as a whole."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.types.registry_events import EvaluatorRegistered
from strategies.gate.aimed_rule import AIM_STAKES, FRESH
from strategies.gate.rollout_rule import LOOKS, STAKES
from strategies.gate.stats.balanced_rounds import MOST_CONFIRMED, MOST_TOGETHER
from strategies.policy.canonical_json import canonical_json, digest
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.score import Split
    from strategies.rollouts.compare.contest import Contest
    from strategies.rollouts.compare.task_division import DividedTasks
    from strategies.rollouts.run.agent_templates import Agent
    from strategies.sandbox.confined_run import SandboxPolicy

METHOD: Final = "rollout-5"
"""How runs are paired and judged; a change that moves figures takes the next number."""
_MAX_SCRIPT_BYTES: Final = 1024**2


def harness_of(agent: Agent, policy: SandboxPolicy) -> str:
    """Name the harness: the agent's command, the scripts that it names, and the limits that it runs under.

    The program itself is not read: a binary changes with every update, and its version is its own to tell.
    """
    scripts = {word: _script(Path(word)) for word in agent.argv[1:]}
    known = {word: hashed for word, hashed in scripts.items() if hashed}
    return digest(["harness", agent.model_dump(mode="json"), known, policy.model_dump(mode="json")])


def _script(path: Path) -> str:
    """Hash a small file that an agent's command names; "" where it names none."""
    try:
        if path.is_file() and path.stat().st_size <= _MAX_SCRIPT_BYTES:
            return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        pass  # a word of a command is rarely a path; what is none says nothing
    return ""


def rule_text() -> str:
    """Write the rule down as canonical JSON, without any preset's numbers: part of an evaluator's identity."""
    rule = ROLLOUT_RULE.model_dump() | {"looks": LOOKS, "stakes": STAKES, "aim_stakes": AIM_STAKES}
    return canonical_json(rule)


def rollout_evaluator(tasks: str, harness: str, split_key: str, splits: Mapping[str, Split] | None = None) -> str:
    """Name the evaluator that scores by runs on these tasks (a digest) under this harness.

    `splits` say which task is for what; None where all of them decide.
    """
    divided = [dict(splits)] if splits else []
    return digest(["evaluator", "rollout", METHOD, rule_text(), split_key, tasks, harness, *divided])


def registration(evaluator: str, divided: DividedTasks) -> EvaluatorRegistered:
    """Freeze an evaluator; its runs take the place of episodes, and there are as many as looks ask for."""
    tasks = len(divided.sealed) + len(divided.audit)
    return EvaluatorRegistered(
        evaluator=evaluator,
        kind="rollout",
        scope="tasks",
        method=METHOD,
        policy=rule_text(),
        episodes=tasks * LOOKS[-1],
        tasks=tasks,
        sealed_tasks=len(divided.sealed),
    )


def comparison_text(contest: Contest, *, tasks: str, agent: Agent, harness: str, provenance: Sequence[str]) -> str:
    """Write down all that a comparison will be, as canonical JSON, before its first run.

    Shapes: tasks is the digest of the set, `provenance` everything else that went into it: `steering sha256:…`.
    """
    frozen = {
        "candidates": {arm.name: arm.digest for arm in contest.candidates},
        "incumbent": {contest.incumbent.name: contest.incumbent.digest},
        "tasks": tasks,
        "sealed": [task.id for task in contest.sealed],
        "audit": [task.id for task in contest.audit],
        "graders": digest(
            [[grader.model_dump(mode="json") for grader in task.graders] for task in contest.sealed]
        ),
        "agent": agent.model_dump(mode="json"),
        "harness": harness,
        "method": METHOD,
        "thresholds": contest.policy.model_dump(),
        "looks": LOOKS,
        "together": MOST_TOGETHER,
        "no_skill": contest.against_nothing,
        "seed": contest.seed,
        "provenance": list(provenance),
    }
    if contest.by_sign:
        frozen["by_sign"] = True
    aims = {arm.name: [task.id for task in contest.aim(arm)] for arm in contest.candidates if contest.aim(arm)}
    if aims:
        frozen |= {"aims": aims, "fresh": list(FRESH), "aim_stakes": AIM_STAKES}
        frozen |= {"company": [contest.least_company, MOST_CONFIRMED], "puts_off": contest.puts_off}
        frozen["parts"] = [sorted(part) for part in contest.parts]
    return canonical_json(frozen)
