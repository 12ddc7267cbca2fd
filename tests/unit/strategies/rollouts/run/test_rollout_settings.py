"""The table `[rollouts]`: what may stand in it, and that all of it is in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from events.errors import UsageError
from strategies.rollouts.compare.metric import MetricFile
from strategies.rollouts.run.rollout_settings import RolloutConfig, RolloutSettings, agent_in

DOCS = Path(__file__).resolve().parents[5] / "docs"


@pytest.mark.parametrize("name", RolloutSettings.model_fields)
def test_every_setting_is_in_the_docs_with_its_default(name: str) -> None:
    default = RolloutSettings.model_fields[name].default
    written_default = (
        {"": '""', (): "[]", False: "false"}.get(default, f"{default}") if default != 0 else f"{default}".lower()
    )
    assert f"| `rollouts.{name}` | `{written_default}` |" in (DOCS / "configuration.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", MetricFile.model_fields)
def test_every_key_of_a_metric_is_in_the_docs(name: str) -> None:
    assert f"\n| `{name}` | " in (DOCS / "rollouts.md").read_text(encoding="utf-8").partition("## A metric")[2]


def test_the_example_of_a_metric_is_one() -> None:
    import tomllib

    text = (DOCS / "rollouts.md").read_text(encoding="utf-8").partition("## A metric")[2]
    toml_block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert toml_block
    assert MetricFile.model_validate(tomllib.loads(toml_block[1])).limit_s == 300


def test_what_is_said_for_one_skill_goes_before_what_is_said_for_all() -> None:
    settings = {"tasks": "a", "agent": "x", "sql-analyst": {"tasks": "b"}}
    config = RolloutConfig.from_mapping(settings, Path())
    assert (config.of("sql-analyst").tasks, config.of("sql-analyst").agent) == ("b", "x")
    assert (config.of("other").tasks, config.decide) == ("a", True)


def test_runs_decide_only_where_tasks_and_agent_or_a_metric_are_named() -> None:
    assert not RolloutSettings(tasks="a").decide
    assert not RolloutSettings(agent="a").decide
    assert RolloutSettings(tasks="a", agent="a").decide
    assert RolloutSettings(metric="a").decide


def test_an_agents_files_are_found_from_wherever_it_will_run(tmp_path: Path) -> None:
    (tmp_path / "agent.py").touch()
    agent = agent_in(tmp_path, "python3 agent.py {skill_dir} other.py", RolloutSettings(network=True))
    assert agent.argv == ("python3", str(tmp_path / "agent.py"), "{skill_dir}", "other.py")
    assert agent.network


def test_a_folder_cannot_put_a_program_in_the_place_of_one_on_the_path(tmp_path: Path) -> None:
    for name in ("claude", "python3", "agent"):
        (tmp_path / name).touch(mode=0o755)
    assert agent_in(tmp_path, "claude", RolloutSettings()).argv[0] == "claude"
    assert agent_in(tmp_path, "python3 agent", RolloutSettings()).argv == ("python3", str(tmp_path / "agent"))
    assert agent_in(tmp_path, "./agent {round}", RolloutSettings()).argv[0] == str(tmp_path / "agent")


def test_no_agent_is_an_error_that_names_the_presets() -> None:
    with pytest.raises(UsageError, match="no agent is named") as caught:
        agent_in(Path(), "", RolloutSettings())
    assert "claude" in caught.value.hint
