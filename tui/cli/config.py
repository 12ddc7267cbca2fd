"""germline.toml: what a person set for good. Every key that may stand in it is read here, and no other may."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from events.errors import UsageError
from registry.gitleaks import find_gitleaks
from strategies.logs.outcome_rules import outcome_rules
from strategies.raising import IntakePolicy
from strategies.signals.thresholds import Thresholds

if TYPE_CHECKING:
    from strategies.logs.outcome_rules import OutcomeRule

NAME: Final = "germline.toml"
_SIGNALS: Final = "signals"
_OUTCOME: Final = "outcome"
_KEYS: Final[dict[str, tuple[type, ...]]] = {
    "seed": (int,),
    "scan.paths": (list,),
    "scan.workers": (int,),
    "scan.gitleaks": (bool,),
    "watch.look_every_s": (int, float),
    "watch.evolve_every_s": (int, float),
    "watch.promote": (bool,),
}
_WORDS: Final = {int: "a whole number", list: "a list of paths", float: "a number", bool: "true or false"}
_LEAST: Final = {"scan.workers": 0, "watch.look_every_s": 0.1, "watch.evolve_every_s": 0}
"""The least that a number may be."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the nearest germline.toml says.

    `paths` are the logs that `scan` and `watch` read where none are named, `workers` the processes that read
    them (0: one for each core). `rules` give outcomes to episodes whose logs tell none. `promote` lets
    `watch --evolve` promote what the gate lets through; else it is held for review. Units: seconds.
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

    @property
    def policy(self) -> IntakePolicy:
        """What was decided about what comes in."""
        return IntakePolicy(self.thresholds, find_gitleaks() if self.gitleaks else "", self.rules)


def read_config() -> Config:
    """Read the nearest germline.toml upwards from here; defaults where there is none.

    Relative paths begin at the file's folder. Raises: UsageError for what is no TOML, or no key of ours.
    """
    here = Path.cwd()
    found = next((folder / NAME for folder in (here, *here.parents) if (folder / NAME).is_file()), None)
    if found is None:
        return Config()
    try:
        said = tomllib.loads(found.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{found} is no TOML: {error}", hint=f"mend it, or remove it: {found}") from error
    thresholds, rules = said.pop(_SIGNALS, {}), said.pop(_OUTCOME, [])
    if not isinstance(thresholds, dict):
        raise UsageError(
            f"{found} sets {_SIGNALS} to {thresholds!r}", hint=f"write [{_SIGNALS}] and keys below it"
        )
    flat = _flat(said)
    for key, value in flat.items():
        _check(found, key, value)
    told = {key.rpartition(".")[2]: value for key, value in flat.items()}
    if "paths" in told:
        told["paths"] = tuple(found.parent / Path(str(path)).expanduser() for path in told["paths"])
    return Config(**told, thresholds=Thresholds.from_mapping(thresholds), rules=outcome_rules(rules))


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested tables as one, with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _check(found: Path, key: str, value: object) -> None:
    kinds = _KEYS.get(key)
    if kinds is None:
        known = [*_KEYS, f"[{_SIGNALS}]", f"[[{_OUTCOME}]]"]
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
        "# `germline watch --evolve`: how often at most, in seconds, and whether it may promote unasked.\n"
        "# [watch]\n# evolve_every_s = 900\n# promote = false\n"
    )
