"""Which settings germline knows, of what kind they are, and what values they may have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from events.errors import UsageError
from strategies.engines.engine_settings import TABLE as _ENGINE
from strategies.engines.engine_settings import EngineSettings
from strategies.models.model_settings import TABLE as _MODELS
from strategies.models.model_settings import ModelSettings
from strategies.rollouts.run.rollout_settings import TABLE as _ROLLOUTS
from strategies.rollouts.run.rollout_settings import RolloutSettings
from strategies.signals.thresholds import Thresholds
from tui.cli.config.log_settings import LOGS, SKILLS

SIGNALS: Final = "signals"
OUTCOME: Final = "outcome"
REMAPPED: Final = "keys"
KEYS: Final[dict[str, tuple[type, ...]]] = {
    "seed": (int,),
    "scan.paths": (list,),
    "scan.workers": (int,),
    "scan.gitleaks": (bool,),
    "scan.personal_data": (bool,),
    "logs.trust": (str,),
    "outcomes.from": (list,),
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
    **KEYS,
    **{f"{SIGNALS}.{name}": (int, float) for name in Thresholds.model_fields},
    **{
        f"{_ROLLOUTS}.{name}": _kinds_of(setting.default) for name, setting in RolloutSettings.model_fields.items()
    },
    **{
        f"{_MODELS}.{name}": _kinds_of(setting.default)
        for name, setting in ModelSettings.model_fields.items()
        if name not in {"prices", "effort", "fallback"}
    },
    **{f"{_ENGINE}.{name}": _kinds_of(setting.default) for name, setting in EngineSettings.model_fields.items()},
    OUTCOME: (list,),
}
"""Every setting there is, by its dotted key, and the types it may have."""
_WORDS: Final = {
    int: "a whole number",
    list: "a list",
    float: "a number",
    bool: "true or false",
    str: "a text",
}
_LEAST: Final = {"scan.workers": 0, "watch.look_every_s": 0.1, "watch.evolve_every_s": 0, "review.draw_every": 0}
"""The least that a number may be."""
_ONE_OF: Final = {"logs.trust": ("mine", "team", "public")}
"""The words that a text may be."""


def check_setting(where: str, key: str, value: object) -> None:
    """Raise UsageError for a key that germline does not know, or a value that it may not have."""
    kinds = KEYS.get(key)
    if kinds is None:
        known = [
            *KEYS,
            f"[{SIGNALS}]",
            f"[{_ROLLOUTS}]",
            f"[{_MODELS}]",
            f"[{_ENGINE}]",
            f"[{REMAPPED}]",
            f"[{LOGS}.NAME]",
            f"[{SKILLS}.NAME]",
            f"[[{OUTCOME}]]",
        ]
        near = get_close_matches(key, KEYS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(known)}"
        raise UsageError(f"{where} sets {key}, which germline does not know", hint=hint)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UsageError(f"{where} sets {key} to {value!r}", hint=f"{key} is {_WORDS[kinds[-1]]}")
    if value not in _ONE_OF.get(key, (value,)):
        raise UsageError(f"{where} sets {key} to {value!r}", hint=f"{key} is one of: {', '.join(_ONE_OF[key])}")
    if isinstance(value, (int, float)) and value < _LEAST.get(key, value):
        raise UsageError(f"{where} sets {key} to {value!r}", hint=f"{key} is at least {_LEAST[key]}")
