"""Answers of `--json` held against the models that their published schemas are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from tui.documents.schemas import every_document

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "schemas"


def schema_of(name: str) -> dict[str, Any]:
    """Read the schema of an answer by its name: `candidate-show`."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def breaches(answer: Mapping[str, Any]) -> list[str]:
    """Say where an answer is not as its schema says, at any level also where it says more."""
    model = every_document()[answer["schema"].split("/")[1]]
    try:
        model.model_validate_json(json.dumps(answer), strict=True)
    except ValidationError as error:
        return [f"{'.'.join(map(str, problem['loc']))}: {problem['type']}" for problem in error.errors()]
    return []
