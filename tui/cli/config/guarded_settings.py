"""Guarded settings: what a project's germline.toml could run, reach or reveal, were its word enough.

A project may have come from a stranger (F1), so these take effect once the person trusts them. Every
other setting works at once.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ASKS: Final = "sends texts to a model, paid with your key"
LETS: Final[Mapping[str, str]] = {
    "scan.gitleaks": "keeps gitleaks from looking for secrets",
    "scan.personal_data": "keeps e-mail addresses, card and phone numbers in evidence and sessions",
    "logs.trust": "has logs taken for your own word",
    "rollouts.tasks": "brings checks, graders and images that are run",
    "rollouts.metric": "runs a command",
    "rollouts.agent": "runs a command, or a model with your key",
    "rollouts.network": "lets an agent use the network",
    "rollouts.environment": "gives an agent the values of these variables",
    "rollouts.commands": "lets checks and graders run these programs",
    "rollouts.allow_unisolated": "runs commands where this machine cannot isolate them",
    **{f"models.{role}": _ASKS for role in ("proposer", "writer", "judge", "notes", "classifier", "agent")},
    "models.fallback": _ASKS,
    "models.base_url": "receives what models are asked, and your key",
    "models.prices": "decides what a cap in dollars lets through",
    "engine.name": "hands work to other processes",
    "engine.scheduler": "can run code on this machine",
}
"""What always needs trust, but for values that switch it off, and what each lets a project do."""
OUTSIDE: Final[Mapping[str, str]] = {
    "scan.paths": "reads logs outside the project",
    "logs.name": "says what logs outside the project hold",
    "judge.rubric": "sends a file outside the project to a model",
    "evolve.skills_folder": "writes skills outside the project",
}
"""Paths, and globs of mappings, that need trust where they lead out of the project."""
CAPS: Final[Mapping[str, bool]] = {
    "rollouts.cost_cap_usd": True,
    "rollouts.time_cap_s": True,
    "rollouts.most_replies": False,
    "rollouts.reply_tokens": False,
    "rollouts.run_tokens": False,
    "models.cap_usd_per_cycle": True,
    "models.cap_usd_per_day": True,
    "models.cap_tokens_per_cycle": True,
    "models.max_retries": False,
}
"""Bounds that need trust where they are raised over the person's own, and whether 0 is no bound at all."""
_RAISES: Final = "lets more be spent than your own settings do"
_OFF: Final[Mapping[str, tuple[object, ...]]] = {
    "scan.gitleaks": (True,),
    "scan.personal_data": (True,),
    "engine.name": ("local",),
    "logs.trust": ("team", "public"),
}
"""Values with which a setting needs no trust, where they are others than "", false and an empty list."""


class GuardedSetting(NamedTuple):
    """A setting that needs trust: its key as TOML has it, its value, what it lets a project do.

    `path` is the key as nested tables have it, `leads_to` where the paths in the value lead, links followed.
    """

    key: str
    path: tuple[str, ...]
    value: object
    lets: str
    leads_to: tuple[str, ...] = ()


def guarded(tables: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> tuple[GuardedSetting, ...]:
    """List what needs trust in the tables of a project in `folder`; `own` are those of the person's own file."""
    return tuple(_guarded(tables, own, folder.resolve()))


def without(tables: Mapping[str, Any], settings: Iterable[GuardedSetting]) -> dict[str, Any]:
    """Give tables as they are without some settings."""
    left = deepcopy(dict(tables))
    for setting in settings:
        table = left
        for name in setting.path[:-1]:
            table = table[name]
        del table[setting.path[-1]]
    return left


def _guarded(tables: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> Iterator[GuardedSetting]:
    for path, value in _leaves(tables):
        key = _general(path)
        named = (".".join(map(_quoted, path)), path, value)
        if key in LETS and value not in _OFF.get(key, ("", False, [])):
            yield GuardedSetting(*named, LETS[key])
        elif key in CAPS and _bound(value, key) > _bound(_own(own, path, key), key):
            yield GuardedSetting(*named, _RAISES)
        elif key in OUTSIDE:
            place = value.get("glob", "") if isinstance(value, dict) else value
            texts = place if isinstance(place, list) else [place]
            leads_to = [(folder / Path(str(text)).expanduser()).resolve() for text in texts]
            if not all(there.is_relative_to(folder) for there in leads_to):
                yield GuardedSetting(*named, OUTSIDE[key], tuple(map(str, leads_to)))


def _leaves(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Go through what tables say, key by key; the prices of one model belong together, and so does a mapping."""
    for name, value in table.items():
        path = (*above, name)
        if isinstance(value, dict) and above not in {("models", "prices"), ("logs",)}:
            yield from _leaves(value, path)
        else:
            yield path, value


def _general(path: tuple[str, ...]) -> str:
    """Give the key of a setting without the skill, the model or the mapping that it is set for."""
    if path[0] == "rollouts" and len(path) > 2:  # noqa: PLR2004 - rollouts, skill, name
        return f"rollouts.{path[-1]}"
    if path[0] == "logs" and path != ("logs", "trust"):
        return "logs.name"
    return ".".join(path[:2]) if path[:2] in {("models", "prices"), ("models", "fallback")} else ".".join(path)


def _own(own: Mapping[str, Any], path: tuple[str, ...], key: str) -> object:
    """Give what holds without the project: the person's own word for the skill, for all skills, the default."""
    for names in (path, tuple(key.split("."))):
        value: Any = own
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            return value
    from strategies.models.model_settings import ModelSettings  # noqa: PLC0415 - most projects set no cap
    from strategies.rollouts.run.rollout_settings import RolloutSettings  # noqa: PLC0415 - the same

    table, _, name = key.partition(".")
    default: object = getattr(ModelSettings() if table == "models" else RolloutSettings(), name)
    return default


def _bound(value: object, key: str) -> float:
    """Give how much a bound lets through; what is no number is reported elsewhere."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float("inf") if value == 0 and CAPS[key] else float(value)


def _quoted(name: str) -> str:
    """Write a part of a key as TOML does."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if plain else f'"{name}"'
