"""The table `[rollouts]` of germline.toml: which runs decide on a skill, with what, and what they may cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from events.errors import UsageError, unfit_setting
from events.types.frozen import Frozen
from strategies.rollouts.run.agent_templates import MESSAGES, PRESETS, SkillMode, agent_of, with_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.rollouts.run.agent_templates import Agent
    from strategies.rollouts.run.messages_agent import MessagesAgent

TABLE: Final = "rollouts"
_NOT_NEGATIVE = Annotated[float, Field(ge=0)]


class RolloutSettings(Frozen):
    """What `[rollouts]` says, or `[rollouts.SKILL]` for one skill.

    `tasks` names a task set, `metric` a file that says how one number is measured; `agent` is a preset or a
    command template. `commands`, `environment` and `network` say what the sandbox lets through,
    `allow_unisolated` is the consent to run where the machine cannot isolate, `container` says whether tasks that
    ask for containers get them: where they work, always or never. `skill_mode` and what follows it
    concern the agent `messages` alone. Units: workers 0 is one for each core, caps 0 are none; see MessagesAgent.
    """

    tasks: str = ""
    metric: str = ""
    agent: str = ""
    workers: Annotated[int, Field(ge=0)] = 0
    cost_cap_usd: _NOT_NEGATIVE = 0.0
    time_cap_s: _NOT_NEGATIVE = 0.0
    network: bool = False
    environment: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    allow_unisolated: bool = False
    container: Literal["auto", "always", "never"] = "auto"
    skill_mode: SkillMode = "injected"
    most_replies: Annotated[int, Field(gt=0)] = 40
    reply_tokens: Annotated[int, Field(gt=0)] = 8_192
    run_tokens: Annotated[int, Field(gt=0)] = 400_000

    @property
    def decide(self) -> bool:
        """Whether runs decide: a metric, or a task set and an agent, are named."""
        return bool(self.metric or (self.tasks and self.agent))


class RolloutConfig(Frozen):
    """The settings of all skills, and of those that have their own; `folder` is where an agent's files lie."""

    every: RolloutSettings = RolloutSettings()
    skills: dict[str, RolloutSettings] = Field(default_factory=dict)
    folder: Path = Path()

    @classmethod
    def from_mapping(cls, given: "Mapping[str, Any]", folder: Path) -> "RolloutConfig":
        """Read the table; raises UsageError for a key or a value that cannot be."""
        own = {key: value for key, value in given.items() if isinstance(value, dict)}
        shared = {key: value for key, value in given.items() if key not in own}
        every = _settings(TABLE, shared)
        skills = {name: _settings(f"{TABLE}.{name}", shared | table) for name, table in own.items()}
        return cls(every=every, skills=skills, folder=folder)

    def of(self, skill: str) -> RolloutSettings:
        """Give what holds for one skill."""
        return self.skills.get(skill, self.every)

    @property
    def decide(self) -> bool:
        """Whether runs decide on any skill."""
        return any(settings.decide for settings in (self.every, *self.skills.values()))


def agent_in(folder: Path, command: str, settings: RolloutSettings) -> "Agent":
    """Read an agent's command; the files that it names are those below a folder, wherever the agent will run.

    Raises: UsageError where none is named, or the template is none.
    """
    if not command:
        known = ", ".join((*PRESETS, MESSAGES))
        raise UsageError(
            "no agent is named, and a candidate is tested by running one",
            hint=f"--agent 'CMD … {{skill_dir}}', or agent = … under [{TABLE}]; by name: {known}",
        )
    agent = agent_of(command, network=settings.network, environment=settings.environment)
    return agent.model_copy(update={"argv": with_files(agent.argv, folder)})


def messages_in(model: str, settings: RolloutSettings) -> "MessagesAgent":
    """Set up a model as agent, as settings say."""
    from strategies.rollouts.run.messages_agent import messages_agent  # noqa: PLC0415 - tools and sandbox, for runs only

    return messages_agent(
        model,
        settings.skill_mode,
        most_replies=settings.most_replies,
        reply_tokens=settings.reply_tokens,
        run_tokens=settings.run_tokens,
    )


def _settings(table: str, given: "Mapping[str, object]") -> RolloutSettings:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    try:
        return RolloutSettings.model_validate(values, strict=True)
    except ValidationError as error:
        raise unfit_setting(error, table, RolloutSettings.model_fields) from None
