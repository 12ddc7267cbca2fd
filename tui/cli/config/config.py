"""Settings: what a person set for good. Every key that may be set is read here, and no other may."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from events.errors import UntrustedError, UsageError
from strategies.engines.engine_settings import TABLE as _ENGINE
from strategies.engines.engine_settings import EngineSettings
from strategies.episodes.outcome_rules import outcome_rules
from strategies.models.model_settings import TABLE as _MODELS
from strategies.models.model_settings import ModelSettings, is_on_this_machine
from strategies.models.served_model import OPENAI_URL, served_model
from strategies.pool.intake_policy import IntakePolicy
from strategies.rollouts.run.rollout_settings import TABLE as _ROLLOUTS
from strategies.rollouts.run.rollout_settings import RolloutConfig, RolloutSettings
from strategies.scope.log_globs import LogGlobs
from strategies.signals.thresholds import Thresholds
from tui.cli.config.known_settings import KINDS, OUTCOME, REMAPPED, SIGNALS, check_setting
from tui.cli.config.layers import flat, nearest_file, read_layers, variable
from tui.cli.config.log_settings import (
    FROM,
    LOGS,
    SKILLS,
    SkillSettings,
    mappings_of,
    skills_of,
    sources_of,
    table_of,
)
from tui.cli.config.project_trust import refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.query.library import Library
    from strategies.episodes.episode import Trust, WorldSource
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from tui.cli.config.layers import LayeredSettings


@dataclass(frozen=True, slots=True)
class Config:
    """What the environment, the nearest germline.toml and the user's own one say, in this order.

    `paths` are the logs that `scan` and `watch` read where none are named, `workers` the processes that read
    them (0: one for each core), `trust` whose word they are; `by_project` tells that a project names them, and
    nobody stated that. Hints from the world of these `sources` stand for labels where a log has none.
    `rules` give outcomes to episodes whose logs tell none, `mappings` read files of shapes that no reader knows.
    `promote` lets `watch --evolve` promote what the gate lets through; else it is held for review. `rollouts` say
    which runs of an agent decide, `models` which models are asked, and what they may cost, `engine` where work is
    shared. `rubric` is the file that a judge goes by in place of its own, `skills_folder` where new skills go. Of
    every `draw_every` promotions one is drawn for a person to look at. `theme`, `ascii` and `keys`, which are the
    keys of bindings by their ids, are for the screens, which check them. `skills` says whose logs are whose.
    `untrusted` are keys of the project that are left out until the person trusts them: what would use one says so
    by `require`. Units: seconds.
    """

    seed: int = 0
    paths: tuple[Path, ...] = ()
    workers: int = 0
    gitleaks: bool = True
    personal_data: bool = True
    trust: Trust = "mine"
    by_project: bool = False
    sources: tuple[WorldSource, ...] = ()
    look_every_s: float = 2.0
    evolve_every_s: float = 900.0
    promote: bool = False
    thresholds: Thresholds = field(default_factory=Thresholds)
    rules: tuple[OutcomeRule, ...] = ()
    mappings: tuple[LogMapping, ...] = ()
    rollouts: RolloutConfig = field(default_factory=RolloutConfig)
    models: ModelSettings = field(default_factory=ModelSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    rubric: Path | None = None
    skills_folder: Path | None = None
    draw_every: int = 10
    theme: str = "textual-dark"
    ascii: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    skills: Mapping[str, SkillSettings] = field(default_factory=dict)
    untrusted: tuple[str, ...] = ()

    def skill_logs(self, library: Library) -> LogGlobs:
        """Give whose logs are whose; raises UsageError where the nearest file names a skill that is not there."""
        names = library.names()
        for name, settings in self.skills.items():
            if name not in names and settings.near:
                near = get_close_matches(name, names, n=3, cutoff=0.5)
                hint = (
                    f"did you mean {' or '.join(near)}?"
                    if near
                    else f"the skills: {', '.join(names) or 'none yet'}"
                )
                raise UsageError(
                    f"{settings.named_by} sets {SKILLS}.{name}, and there is no such skill", hint=hint
                )
        return self.globs

    @property
    def globs(self) -> LogGlobs:
        """Whose logs are whose, for the skills that there are and for others."""
        return LogGlobs({name: settings.logs for name, settings in self.skills.items()})

    def require(self, *names: str) -> None:
        """Raise UntrustedError where the project sets one of these, or a key below one, and nobody trusted it."""
        below = tuple(f"{name}." for name in names)
        keys = tuple(key for key in self.untrusted if key in names or key.startswith(below))
        if keys:
            raise refused(str(nearest_file()), keys)

    @property
    def policy(self) -> IntakePolicy:
        """What was decided about what comes in; raises UntrustedError."""
        from registry.evidence.gitleaks import find_scanner  # noqa: PLC0415 - settings are read by every command

        self.require("scan.gitleaks", "scan.personal_data", LOGS)
        return IntakePolicy(
            self.thresholds,
            find_scanner() if self.gitleaks else "",
            self.rules,
            self.mappings,
            self.trust,
            by_project=self.by_project,
            personal_data=self.personal_data,
            sources=self.sources,
        )


def read_config() -> Config:
    """Read the settings of all layers; defaults where none says anything.

    Relative paths begin at the folder of their file, those of the environment here. Raises: UsageError for what
    is no TOML, or no key of ours.
    """
    return config_of(read_layers(KINDS))


def config_in_force() -> Config:
    """Read the settings for what only shows: those of another user are left aside, as if none were there."""
    try:
        return read_config()
    except UntrustedError:
        return Config()


def config_of(layers: LayeredSettings) -> Config:
    """Check what the layers say, and make settings of it; raises UsageError for what cannot be."""
    tables = dict(layers.tables)
    rules = tables.pop(OUTCOME, [])
    names = (SIGNALS, _ROLLOUTS, _MODELS, _ENGINE)
    thresholds, rollouts, models, engine = (table_of(layers, tables.pop(name, {}), name) for name in names)
    mappings = mappings_of(layers, tables)
    remapped = flat(table_of(layers, tables.pop(REMAPPED, {}), REMAPPED))
    skills = skills_of(layers, table_of(layers, tables.pop(SKILLS, {}), SKILLS))
    keys = flat(tables)
    for key, value in keys.items():
        check_setting(layers.origins[key].name, key, value)
    settings = {key.rpartition(".")[2]: value for key, value in keys.items()}
    for key in ("judge.rubric", "evolve.skills_folder"):
        name = key.rpartition(".")[2]
        if name in settings:
            settings[name] = layers.origins[key].folder / Path(str(settings[name])).expanduser()
    if "paths" in settings:
        named_by = layers.origins["scan.paths"].layer
        settings["by_project"] = named_by == "nearest file" and "trust" not in settings
        folder = layers.origins["scan.paths"].folder
        settings["paths"] = tuple(folder / Path(str(path)).expanduser() for path in settings["paths"])
    if "from" in settings:
        settings["sources"] = sources_of(layers, settings.pop("from"))
    return Config(
        **settings,
        thresholds=Thresholds.from_mapping(thresholds),
        rules=outcome_rules(rules),
        mappings=mappings,
        rollouts=_rollouts(layers, rollouts),
        models=_models(layers, models),
        engine=_engine(layers, engine),
        keys=_remapped(layers, remapped),
        skills=skills,
        untrusted=layers.withheld,
    )


def _remapped(layers: LayeredSettings, table: dict[str, object]) -> dict[str, str]:
    """Read the keys that a person gave to bindings; the screens know which bindings and keys there are."""
    for name, value in table.items():
        if not isinstance(value, str):
            where = layers.origins[f"{REMAPPED}.{name}"].name
            raise UsageError(f"{where} sets keys.{name} to {value!r}", hint='a key is a text: "j", or "j,down"')
    return {name: str(value) for name, value in table.items()}


def _models(layers: LayeredSettings, table: dict[str, object]) -> ModelSettings:
    """Read which models are asked; who receives the key is not for a project to say."""
    settings = ModelSettings.from_mapping(table)
    for key, value, url in (
        ("base_url", settings.base_url, settings.base_url),
        *((role, name, served.url) for role, name in settings.named.items() if (served := served_model(name))),
    ):
        origin = layers.origins.get(f"{_MODELS}.{key}")
        elsewhere = url and url != OPENAI_URL and not is_on_this_machine(url)
        if elsewhere and origin and origin.layer == "nearest file":
            raise UsageError(
                f"{origin.name} sets models.{key} to {value}, which would be sent your key",
                hint=f"say it yourself: export {variable(f'{_MODELS}.{key}')}={value}",
            )
    return settings


def _engine(layers: LayeredSettings, table: dict[str, object]) -> EngineSettings:
    """Read where work is shared; a scheduler may run code here, so a project may only name one on this machine."""
    settings = EngineSettings.from_mapping(table)
    origin = layers.origins.get(f"{_ENGINE}.scheduler")
    if (
        settings.scheduler
        and origin
        and origin.layer == "nearest file"
        and not is_on_this_machine(settings.scheduler)
    ):
        raise UsageError(
            f"{origin.name} sets engine.scheduler to {settings.scheduler}, "
            "which could run its code on this machine",
            hint=f"say it yourself: export {variable(f'{_ENGINE}.scheduler')}={settings.scheduler}",
        )
    return settings


def on_engine(config: Config, name: str | None, scheduler: str) -> Config:
    """Let what was typed go before the settings; nothing is None and "". Raises: UsageError, UntrustedError."""
    if name == "local":  # nothing that the project says of engines counts then
        config = replace(config, untrusted=tuple(key for key in config.untrusted if not key.startswith("engine.")))
    config.require("engine")
    settings = config.engine.model_dump() | {
        key: setting for key, setting in (("name", name), ("scheduler", scheduler)) if setting
    }
    engine = EngineSettings.from_mapping(settings)
    if scheduler and engine.name == "local":
        raise UsageError(
            f"--scheduler {scheduler} is for another engine than local",
            hint=f"--engine dask --scheduler {scheduler}",
        )
    return replace(config, engine=engine)


def _rollouts(layers: LayeredSettings, table: dict[str, object]) -> RolloutConfig:
    """Read how candidates are run; the paths in it begin at the folder of the file that names them."""
    origins = {key: origin for key, origin in layers.origins.items() if key.startswith(f"{_ROLLOUTS}.")}
    rollouts = RolloutConfig.from_mapping(table, next((origin.folder for origin in origins.values()), Path()))

    def placed(settings: RolloutSettings, prefix: str) -> RolloutSettings:
        folders = {
            name: (origins.get(f"{prefix}.{name}") or origins[f"{_ROLLOUTS}.{name}"]).folder
            for name in ("tasks", "metric")
            if getattr(settings, name)
        }
        paths = {name: str(at / Path(getattr(settings, name)).expanduser()) for name, at in folders.items()}
        return settings.model_copy(update=paths)

    skills = {name: placed(table, f"{_ROLLOUTS}.{name}") for name, table in rollouts.skills.items()}
    return rollouts.model_copy(update={"every": placed(rollouts.every, _ROLLOUTS), "skills": skills})


def value_of(config: Config, key: str) -> object:
    """Give the value of one setting by its dotted key."""
    table, _, name = key.rpartition(".")
    if key == OUTCOME:
        return config.rules
    tables = {
        SIGNALS: config.thresholds,
        _ROLLOUTS: config.rollouts.every,
        _MODELS: config.models,
        _ENGINE: config.engine,
    }
    value: object = getattr(tables.get(table, config), "sources" if key == FROM else name)
    return value


def template(logs: tuple[Path, ...]) -> str:
    """Write the germline.toml that a new registry begins with: the usual keys, commented out, as they are."""
    paths = "".join(f"#   {str(path)!r},\n" for path in logs) or "#   'logs',\n"
    return (
        "# Settings of the registry beside this file. A key counts once its # is gone.\n"
        "# All of them: docs/configuration.md. Those of [rollouts] and [models] wait for: germline trust\n\n"
        "# The seed of every random draw: the same log and seed give the same decisions.\n"
        "# seed = 0\n\n"
        "# Logs that `germline scan`, `watch` and `evolve` read where none are named, and by how many processes.\n"
        f"# [scan]\n# paths = [\n{paths}# ]\n# workers = 0\n\n"
        "# From when an observation is a signal.\n"
        "# [signals]\n# error_count = 3\n# error_episodes = 2\n\n"
        "# How a log that tells no outcome shows one.\n"
        '# [[outcome]]\n# where = "exit_status"\n# pattern = "^0$"\n# value = 1\n# source = "ci"\n\n'
        "# Which hints from the world stand for labels where there are none: docs/outcomes.md\n"
        '# [outcomes]\n# from = ["last_check"]\n\n'
        "# Runs of an agent that decide on candidates: docs/rollouts.md\n"
        '# [rollouts]\n# tasks = "evals/tasks.toml"\n# agent = "claude"\n# cost_cap_usd = 20\n\n'
        "# The models that are asked, by role; without one nothing leaves this machine. Caps in US dollars.\n"
        '# [models]\n# proposer = "NAME"\n# cap_usd_per_cycle = 2.0\n# cap_usd_per_day = 20.0\n\n'
        "# `germline watch --evolve`: how often at most, in seconds, and whether it may promote unasked.\n"
        "# [watch]\n# evolve_every_s = 900\n# promote = false\n"
    )
