"""Remapping: the keys that a person gave to bindings, checked before a screen is drawn."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from textual.keys import KEY_ALIASES, KEY_NAME_REPLACEMENTS, Keys, _character_to_key, key_to_character

from events.errors import UsageError
from tui.widgets.keys import APP, MOVES, ON_SCREENS, OVER_SCREENS, SCREEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.binding import Binding

_MODIFIED: Final = re.compile(r"(?:(?:ctrl|alt|shift|super|meta|hyper)\+)+(?P<key>.+)")
_NAMES: Final = frozenset({key.value for key in Keys} | KEY_ALIASES.keys() | set(KEY_NAME_REPLACEMENTS.values()))
_DOCS: Final = "`?` on a screen lists the ids of its keys"


def checked_keys(asked: Mapping[str, str]) -> dict[str, str]:
    """Check the keys that were asked for, by the ids of their bindings, and write them as Textual does.

    Raises: UsageError for an id or a key that there is not, and for two bindings of a screen under one key.
    """
    known = {binding.id or "" for group in _groups().values() for binding in group}
    keymap: dict[str, str] = {}
    for name, keys in asked.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean keys.{near[0]}?" if near else _DOCS
            raise UsageError(f"keys.{name} names no binding of the screens", hint=hint)
        keymap[name] = ",".join(_key(name, key.strip()) for key in keys.split(","))
    for group in _groups().values():
        _require_apart(group, keymap)
    return keymap


def _groups() -> Mapping[str, Sequence[Binding]]:
    """List the bindings that work at the same time, by where."""
    everywhere = (*APP, *SCREEN, *MOVES)
    on_screens = {name: (*everywhere, *own) for name, own in ON_SCREENS.items()}
    return on_screens | {name: tuple(own) for name, own in OVER_SCREENS.items()}


def _key(name: str, key: str) -> str:
    if len(key) == 1:
        return _character_to_key(key)
    modified = _MODIFIED.fullmatch(key)
    bare = modified["key"] if modified else key
    if bare in _NAMES or key in _NAMES or len(bare) == 1 or key_to_character(bare):
        return key
    near = get_close_matches(key, _NAMES, n=1)
    hint = f"did you mean {near[0]}?" if near else "a key is a letter, a sign, or a name such as ctrl+d or pageup"
    raise UsageError(f"keys.{name} is {key!r}, which is no key", hint=hint)


def _require_apart(group: Iterable[Binding], keymap: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for binding in group:
        name = binding.id or ""
        for key in keymap.get(name, binding.key).split(","):
            other = taken.setdefault(key, name)
            if other != name and (name in keymap or other in keymap):
                asked, there = (name, other) if name in keymap else (other, name)
                raise UsageError(
                    f"keys.{asked} is {key}, which is the key of {there}",
                    hint=f'give that one another key as well: [keys] "{there}" = …',
                )
