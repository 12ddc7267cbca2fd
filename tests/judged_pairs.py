"""Labelled pairs for tests, and a judge behind the stub: labels and noise."""

from __future__ import annotations

import hashlib
import json
import re
from random import Random
from typing import TYPE_CHECKING, Any, Final

from tests.anthropic_stub import KEY, PRICE, gives
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from tests.anthropic_stub import AnthropicStub, Step

_BLOCK: Final = re.compile(r'<untrusted name="(\w+)" mark="(\w+)">\n(.*?)\n</untrusted mark="\2">', re.DOTALL)


def labelled_pairs(labelled: int, *, others: int = 0, family: str = "sql", seed: int = 1) -> list[dict[str, Any]]:
    """Pairs on as many tasks, half of them better in b; `others` come without a label, and say it in the text."""
    random = Random(seed)
    pairs = []
    for number in range(labelled + others):
        better = random.choice(("a", "b"))
        texts = {side: f"answer {number}{side} {'x' * random.randrange(40)}" for side in ("a", "b")}
        texts[better] += " right"
        label = better if number < labelled else None
        task = f"question {number} of {family}"
        pairs.append({"task": task, **texts, "family": family, "mixed": True, "label": label})
    return pairs


def as_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def blocks(body: Mapping[str, Any]) -> dict[str, str]:
    """Read what a judge was shown, by the names of the blocks."""
    text = body["messages"][0]["content"][0]["text"]
    return {name: shown for name, _, shown in _BLOCK.findall(text)}


def draw(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def judge_with(correlation: float) -> Callable[[dict[str, Any]], Step]:
    """A judge whose verdicts go with the labels so far: labels and noise, the same in both orders."""

    def answer(body: dict[str, Any]) -> Step:
        shown = blocks(body)
        right = "first" if shown["first"].endswith("right") else "second"
        wrong = "second" if right == "first" else "first"
        pair = "\n".join(sorted((shown["first"], shown["second"])))
        says = right if draw(pair) < (1 + correlation) / 2 else wrong
        return gives({"reason": "it answers the question", "better": says})

    return answer


def always_first(_: dict[str, Any]) -> Step:
    return gives({"reason": "it came first", "better": "first"})


def with_models(folder: Path, stub: AnthropicStub, *roles: str, more: str = "") -> Terminal:
    """Give a terminal in a folder whose settings name the stub's models, with the key that it takes."""
    named = "".join(f'{role} = "stub-{role}"\n' for role in roles)
    price = ", ".join(f"{name} = {usd}" for name, usd in PRICE.items())
    prices = "".join(f"stub-{role} = {{ {price} }}\n" for role in roles)
    caps = "cap_usd_per_cycle = 0\ncap_usd_per_day = 0\n"
    germline = Terminal(folder, ANTHROPIC_API_KEY=KEY)
    toml = f'[models]\nbase_url = "{stub.base_url}"\n{caps}{named}\n[models.prices]\n{prices}\n{more}'
    germline.write("germline.toml", toml)
    return germline
