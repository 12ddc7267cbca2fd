"""Models on servers that speak OpenAI's chat completions: what their names in the settings mean."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PREFIX: Final = "openai:"
"""How the name of such a model begins in the settings: `openai:NAME@URL`."""
OPENAI_URL: Final = "https://api.openai.com/v1"


class ServedModel(NamedTuple):
    """A model by its name on a server, and the address of that server's API."""

    name: str
    url: str


def served_model(model: str) -> ServedModel | None:
    """Read `openai:NAME@URL`, without `@URL` a model of OpenAI itself; None for a model of Anthropic's API."""
    if not model.startswith(PREFIX):
        return None
    named = re.fullmatch(r"(.+?)@(https?://\S+?)/*", model.removeprefix(PREFIX))
    return ServedModel(*named.groups()) if named else ServedModel(model.removeprefix(PREFIX), OPENAI_URL)
