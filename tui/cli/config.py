"""Settings: what a person set for good. Every key that may be set is read here, and no other may."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import UsageError
from registry.gitleaks import find_gitleaks
from strategies.engines import TABLE as _ENGINE
from strategies.engines import EngineSettings
from strategies.logs.outcome_rules import outcome_rules
from strategies.models.settings import TABLE as _MODELS
from strategies.models.settings import ModelSettings, is_on_this_machine
from strategies.raising import IntakePolicy
from strategies.rollouts.settings import TABLE as _ROLLOUTS
from strategies.rollouts.settings import RolloutConfig, RolloutSettings
from strategies.signals.thresholds import Thresholds
from tui.cli.layers import flat, said_by_layers, variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.logs.outcome_rules import OutcomeRule
    from tui.cli.layers import Said

_SIGNALS: Final = "signals"
_OUTCOME: Final = "outcome"
_REMAPPED: Final = "keys"
_KEYS: Final[dict[str, tuple[type, ...]]] = {
    "seed": (int,),
    "scan.paths": (list,),
    "scan.workers": (int,),
    "scan.gitleaks": (bool,),
    "watch.look_every_s": (int, float),
    "watch.evolve_every_s": (int, float),
    "watch.promote": (bool,),
    "judge.rubric": (str,),
    "evolve.skills_folder": (str,),
    "review.draw_every": (int,),
    "ui.theme": (str,),
    "ui.ascii": (bool,),
}


def _kinds_of(default: object) -> tuple[type, ...]:
    """Tell the types that a setting with this default may have in TOML."""
    if isinstance(default, float):
        return (int, float)
    return (list,) if isinstance(default, tuple) else (type(default),)


KINDS: Final[dict[str, tuple[type, ...]]] = {
    **_KEYS,
    **{f"{_SIGNALS}.{name}": (int, float) for name in Thresholds.model_fields},
    **{f"{_ROLLOUTS}.{name}": _kinds_of(one.default) for name, one in RolloutSettings.model_fields.items()},
    **{
        f"{_MODELS}.{name}": _kinds_of(one.default)
        for name, one in ModelSettings.model_fields.items()
        if name != "prices"
    },
    **{f"{_ENGINE}.{name}": _kinds_of(one.default) for name, one in EngineSettings.model_fields.items()},
    _OUTCOME: (list,),
}
"""Every setting there is, by its dotted key, and the types it may have."""
_WORDS: Final = {
    int: "a whole number",
    list: "a list of paths",
    float: "a number",
    bool: "true or false",
    str: "a text",
}
_LEAST: Final = {"scan.workers": 0, "watch.look_every_s": 0.1, "watch.evolve_every_s": 0, "review.draw_every": 0}
"""The least that a number may be."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the environment, the nearest germline.toml and the user's own one say, in this order.

    `paths` are the logs that `scan` and `watch` read where none are named, `workers` the processes that read
    them (0: one for each core). `rules` give outcomes to episodes whose logs tell none. `promote` lets
    `watch --evolve` promote what the gate lets through; else it is held for review. `rollouts` say which runs of
    an agent decide, `models` which models are asked, and what they may cost, `engine` where work is shared.
    `rubric` is the file that a judge goes by in place of its own, `skills_folder` where new skills go. Of every
    `draw_every` promotions one is drawn for a person to look at. `theme`, `ascii` and `keys`, which are the keys
    of bindings by their ids, are for the screens, which check them. Units: seconds.
    """

    seed: int = 0
    paths: tuple[Path, ...] = ()
    workers: int = 0
    gitleaks: bool = True
    look_every_s: float = 2.0
    evolve_every_s: float = 900.0
    promote: bool = False
    thresholds: Thresholds = field(default_factory=Thresholds)
    rules: tuple[OutcomeRule, ...] = ()
    rollouts: RolloutConfig = field(default_factory=RolloutConfig)
    models: ModelSettings = field(default_factory=ModelSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    rubric: Path | None = None
    skills_folder: Path | None = None
    draw_every: int = 10
    theme: str = "textual-dark"
    ascii: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def policy(self) -> IntakePolicy:
        """What was decided about what comes in."""
        return IntakePolicy(self.thresholds, find_gitleaks() if self.gitleaks else "", self.rules)


def read_config() -> Config:
    """Read the settings of all layers; defaults where none says anything.

    Relative paths begin at the folder of their file, those of the environment here. Raises: UsageError for what
    is no TOML, or no key of ours.
    """
    return config_of(said_by_layers(KINDS))


def config_of(said: Said) -> Config:
    """Check what the layers say, and make settings of it; raises UsageError for what cannot be."""
    tables = dict(said.tables)
    rules = tables.pop(_OUTCOME, [])
    names = (_SIGNALS, _ROLLOUTS, _MODELS, _ENGINE)
    thresholds, rollouts, models, engine = (_table(said, tables.pop(name, {}), name) for name in names)
    remapped = flat(_table(said, tables.pop(_REMAPPED, {}), _REMAPPED))
    keys = flat(tables)
    for key, value in keys.items():
        _check(said.origins[key].name, key, value)
    told = {key.rpartition(".")[2]: value for key, value in keys.items()}
    for key in ("judge.rubric", "evolve.skills_folder"):
        name = key.rpartition(".")[2]
        if name in told:
            told[name] = said.origins[key].folder / Path(str(told[name])).expanduser()
    if "paths" in told:
        folder = said.origins["scan.paths"].folder
        told["paths"] = tuple(folder / Path(str(path)).expanduser() for path in told["paths"])
    return Config(
        **told,
        thresholds=Thresholds.from_mapping(thresholds),
        rules=outcome_rules(rules),
        rollouts=_rollouts(said, rollouts),
        models=_models(said, models),
        engine=_engine(said, engine),
        keys=_remapped(said, remapped),
    )


def _remapped(said: Said, table: dict[str, object]) -> dict[str, str]:
    """Read the keys that a person gave to bindings; the screens know which bindings and keys there are."""
    for name, value in table.items():
        if not isinstance(value, str):
            where = said.origins[f"{_REMAPPED}.{name}"].name
            raise UsageError(f"{where} sets keys.{name} to {value!r}", hint='a key is a text: "j", or "j,down"')
    return {name: str(value) for name, value in table.items()}


def _models(said: Said, table: dict[str, object]) -> ModelSettings:
    """Read which models are asked; who receives the key is not for a project to say, whoever wrote it."""
    found = ModelSettings.from_mapping(table)
    origin = said.origins.get(f"{_MODELS}.base_url")
    if found.base_url and origin and origin.layer == "nearest file" and not is_on_this_machine(found.base_url):
        raise UsageError(
            f"{origin.name} sets models.base_url to {found.base_url}, which would be sent your key",
            hint=f"say it yourself: export {variable(f'{_MODELS}.base_url')}={found.base_url}",
        )
    return found


def _engine(said: Said, table: dict[str, object]) -> EngineSettings:
    """Read where work is shared; a scheduler may run code here, so a project may only name one on this machine."""
    found = EngineSettings.from_mapping(table)
    origin = said.origins.get(f"{_ENGINE}.scheduler")
    if found.scheduler and origin and origin.layer == "nearest file" and not is_on_this_machine(found.scheduler):
        raise UsageError(
            f"{origin.name} sets engine.scheduler to {found.scheduler}, which could run its code on this machine",
            hint=f"say it yourself: export {variable(f'{_ENGINE}.scheduler')}={found.scheduler}",
        )
    return found


def on_engine(config: Config, name: str | None, scheduler: str) -> Config:
    """Let what was typed go before the settings; nothing is None and "". Raises: UsageError."""
    settings = config.engine.model_dump() | {
        key: said for key, said in (("name", name), ("scheduler", scheduler)) if said
    }
    found = EngineSettings.from_mapping(settings)
    if scheduler and found.name == "local":
        raise UsageError(
            f"--scheduler {scheduler} is for another engine than local",
            hint=f"--engine dask --scheduler {scheduler}",
        )
    return replace(config, engine=found)


def _rollouts(said: Said, table: dict[str, object]) -> RolloutConfig:
    """Read how candidates are run; the paths in it begin at the folder of whoever named them."""
    origins = {key: origin for key, origin in said.origins.items() if key.startswith(f"{_ROLLOUTS}.")}
    found = RolloutConfig.from_mapping(table, next((one.folder for one in origins.values()), Path()))

    def placed(settings: RolloutSettings, prefix: str) -> RolloutSettings:
        folders = {
            name: (origins.get(f"{prefix}.{name}") or origins[f"{_ROLLOUTS}.{name}"]).folder
            for name in ("tasks", "metric")
            if getattr(settings, name)
        }
        paths = {name: str(at / Path(getattr(settings, name)).expanduser()) for name, at in folders.items()}
        return settings.model_copy(update=paths)

    skills = {name: placed(one, f"{_ROLLOUTS}.{name}") for name, one in found.skills.items()}
    return found.model_copy(update={"every": placed(found.every, _ROLLOUTS), "skills": skills})


def _table(said: Said, value: object, name: str) -> dict[str, object]:
    if not isinstance(value, dict):
        where = said.origins[name].name
        raise UsageError(f"{where} sets {name} to {value!r}", hint=f"write [{name}] and keys below it")
    return value


def value_of(config: Config, key: str) -> object:
    """Give the value of one setting by its dotted key."""
    table, _, name = key.rpartition(".")
    if key == _OUTCOME:
        return config.rules
    tables = {
        _SIGNALS: config.thresholds,
        _ROLLOUTS: config.rollouts.every,
        _MODELS: config.models,
        _ENGINE: config.engine,
    }
    found: object = getattr(tables.get(table, config), name)
    return found


def _check(found: str, key: str, value: object) -> None:
    kinds = _KEYS.get(key)
    if kinds is None:
        known = [
            *_KEYS,
            f"[{_SIGNALS}]",
            f"[{_ROLLOUTS}]",
            f"[{_MODELS}]",
            f"[{_ENGINE}]",
            f"[{_REMAPPED}]",
            f"[[{_OUTCOME}]]",
        ]
        near = get_close_matches(key, _KEYS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(known)}"
        raise UsageError(f"{found} sets {key}, which germline does not know", hint=hint)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UsageError(f"{found} sets {key} to {value!r}", hint=f"{key} is {_WORDS[kinds[-1]]}")
    if isinstance(value, (int, float)) and value < _LEAST.get(key, value):
        raise UsageError(f"{found} sets {key} to {value!r}", hint=f"{key} is at least {_LEAST[key]}")


def template(logs: tuple[Path, ...]) -> str:
    """Write the germline.toml that a new registry begins with: the usual keys, commented out, as they are."""
    paths = "".join(f"#   {str(path)!r},\n" for path in logs) or "#   'logs',\n"
    return (
        "# Settings of the registry beside this file. A key counts once its # is gone.\n"
        "# All of them: docs/configuration.md\n\n"
        "# The seed of every random draw: the same log and seed give the same decisions.\n"
        "# seed = 0\n\n"
        "# Logs that `germline scan`, `watch` and `evolve` read where none are named, and by how many processes.\n"
        f"# [scan]\n# paths = [\n{paths}# ]\n# workers = 0\n\n"
        "# From when an observation is a signal.\n"
        "# [signals]\n# error_count = 3\n# error_episodes = 2\n\n"
        "# How a log that tells no outcome shows one.\n"
        '# [[outcome]]\n# where = "exit_status"\n# pattern = "^0$"\n# value = 1\n# source = "ci"\n\n'
        "# Runs of an agent that decide on candidates: docs/rollouts.md\n"
        '# [rollouts]\n# tasks = "evals/tasks.toml"\n# agent = "claude"\n# cost_cap_usd = 20\n\n'
        "# The models that are asked, by role; without one nothing leaves this machine. Caps in US dollars.\n"
        '# [models]\n# proposer = "NAME"\n# cap_usd_per_cycle = 2.0\n# cap_usd_per_day = 20.0\n\n'
        "# `germline watch --evolve`: how often at most, in seconds, and whether it may promote unasked.\n"
        "# [watch]\n# evolve_every_s = 900\n# promote = false\n"
    )
