from __future__ import annotations

import pytest

from events.errors import UsageError
from strategies.rollouts.run.agent_templates import PRESETS, Agent, agent_of, told_by


def test_a_template_is_split_once_as_a_shell_would() -> None:
    agent = agent_of("/opt/bin/worker --skill '{skill_dir}' \"a b\" {prompt_file}")
    assert agent.argv == ("/opt/bin/worker", "--skill", "{skill_dir}", "a b", "{prompt_file}")
    assert (agent.name, agent.network) == ("worker", False)


@pytest.mark.parametrize(
    ("command", "message"),
    [("", "is empty"), ("worker 'open", "cannot be split"), ("worker {skil_dir}", "{skil_dir}, which is nothing")],
)
def test_a_template_that_cannot_be_is_refused(command: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        agent_of(command)


def test_braces_that_name_nothing_of_ours_stay() -> None:
    assert agent_of("""worker '{"a": 1}' ${HOME}""").argv[1:] == ('{"a": 1}', "${HOME}")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_the_prompt_from_its_input_and_uses_the_network(name: str) -> None:
    agent = agent_of(name, environment=("EXTRA",))
    assert agent.argv[0] == name
    assert agent.network
    assert agent.skill_at.endswith("/skills/{skill}")
    assert agent.environment[-1] == "EXTRA"


CLAUDE = Agent(name="claude", argv=("claude",), output="claude-json")


@pytest.mark.parametrize(
    ("stdout", "answer", "cost_usd", "failed"),
    [
        ('{"result": "yes", "total_cost_usd": 0.1, "is_error": false}', "yes", 0.1, False),
        ('{"result": "no credit", "is_error": true}', "no credit", None, True),
        ('{"total_cost_usd": "free"}', "", None, False),
        ('{"total_cost_usd": -1}', "", None, False),
        ('{"total_cost_usd": true}', "", None, False),
        ("plain text", "plain text", None, False),
        ("[1]", "[1]", None, False),
    ],
)
def test_what_claude_prints_is_read_with_care(
    stdout: str,
    answer: str,
    cost_usd: float | None,
    failed: bool,  # noqa: FBT001 - the expected answer
) -> None:
    agent_answer = told_by(CLAUDE, stdout)
    assert (agent_answer.answer, agent_answer.cost_usd, agent_answer.failed) == (answer, cost_usd, failed)
