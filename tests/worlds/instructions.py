"""Sessions of agents under a CLAUDE.md of 60 lines, of which it is known what each is worth.

Ten lines help who obeys them, five harm, twenty change nothing, and of twenty-five no log could tell. Two agents
work on the same tasks: the better one obeys more often as well, whatever a line is worth.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from registry.decide.commands import ImportSkill
from registry.skill_md.instructions import read_instructions
from strategies.logs.scan import scan
from strategies.pool.intake import take_in_scan
from tests.clocks import TickingClock
from tests.registries import new_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.registry import Registry

Kind = Literal["helpful", "harmful", "inert", "unwitnessed"]


class PlantedLine(NamedTuple):
    """A line, what it is worth, and the commands by which it is obeyed and ignored, in their order."""

    text: str
    kind: Kind
    obeyed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


_PAIRS: Final = (
    # what to do, and what it goes before or in the place of
    *(
        ("cargo fmt", "cargo publish"),
        ("rg", "grep"),
        ("make lint", "git commit"),
        ("pnpm install", "npm install"),
    ),
    *(("terraform init", "terraform plan"), ("uv sync", "pip install"), ("pytest", "git push"), ("fd", "find")),
    *(("docker build", "docker run"), ("jq", "sed"), ("helm lint", "helm upgrade"), ("bun", "node")),
    *(("go vet", "go build"), ("mypy", "pyright"), ("make migrate", "make serve"), ("gradle", "mvn")),
    *(
        ("kubectl diff", "kubectl apply"),
        ("python3", "python"),
        ("dotnet restore", "dotnet test"),
        ("tail", "cat"),
    ),
    *(("poetry lock", "poetry install"), ("curl", "wget"), ("npm audit", "npm publish"), ("psql", "sqlite3")),
    *(("gh status", "gh merge"), ("eslint", "tsc"), ("brew update", "brew install"), ("tree", "ls")),
    *(("apt update", "apt install"), ("vitest", "jest"), ("make clean", "make release"), ("ruff", "flake8")),
    *(("git fetch", "git rebase"), ("rsync", "scp"), ("conda update", "conda create")),
)
_ORDERS: Final = (
    "Run `{do}` before `{other}`.",
    "- Always run `{do}` before you run `{other}`.",
    "Never run `{other}` without running `{do}` first.",
    "1. Run `{do}` first, then `{other}`.",
)
_CHOICES: Final = (
    "Use `{do}`, not `{other}`.",
    "- Use `{do}` instead of `{other}`.",
    "Never use `{other}`; use `{do}`.",
    "Prefer `{do}` over `{other}` here.",
)
UNWITNESSED: Final = (
    *(
        "Write clear names, not abbreviations.",
        "Keep functions under 40 lines.",
        "- Prefer composition to inheritance.",
    ),
    *("Never commit secrets.", "Never pass `--no-verify`.", "Write tests before you commit.", "Be concise."),
    *("Explain what you changed, and why.", "Use early returns, not nested conditions.", "Do not edit `vendor/`."),
    *("The API lives in `services/api`.", "- Ask before you delete anything.", "Keep the changelog up to date."),
    *(
        "Never push to main.",
        "Follow the style of the file.",
        "Read the issue before you edit.",
        "No new dependencies.",
    ),
    *(
        "Use British spelling.",
        "Money is kept in cents.",
        "Times are UTC.",
        "- Errors name the value that was wrong.",
    ),
    *(
        "If the build fails, run `make` before asking.",
        "Public functions have docstrings.",
        "Prefer small commits.",
    ),
    "We use trunk-based development.",
)
_HELPFUL: Final[tuple[Kind, ...]] = ("helpful",)
_HARMFUL: Final[tuple[Kind, ...]] = ("harmful",)
_INERT: Final[tuple[Kind, ...]] = ("inert",)
_KINDS: Final = (*_HELPFUL * 10, *_HARMFUL * 5, *_INERT * 20)
_FILLERS: Final = ("Read", "Edit", "Glob")
APPLIES: Final = 0.6
"""How often a line's moment comes in a session."""
EFFECT: Final = 0.3
"""How much more, or less, often a session succeeds that obeyed such a line than one that ignored it."""
_AGENTS: Final = {"careful": (0.65, 0.08), "hasty": (0.4, -0.08)}
"""How often each agent obeys, and what it is better by."""


def planted(seed: int) -> list[PlantedLine]:
    """Draw what each of the 60 lines is worth, and in which words it says what it says."""
    draws = random.Random(seed)
    kinds = draws.sample(_KINDS, len(_KINDS))
    lines = [PlantedLine(text, "unwitnessed") for text in UNWITNESSED]
    for at, ((do, other), kind) in enumerate(zip(_PAIRS, kinds, strict=True)):
        order = at % 2 == 0
        text = draws.choice(_ORDERS if order else _CHOICES).format(do=do, other=other)
        lines.append(PlantedLine(text, kind, (do, other) if order else (do,), (other,)))
    return draws.sample(lines, len(lines))


def write_world(folder: Path, seed: int, sessions: int) -> list[PlantedLine]:
    """Write CLAUDE.md and the logs of so many sessions into a folder; answers with the lines in their order."""
    lines = planted(seed)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line.text}\n" for line in lines)
    (folder / "CLAUDE.md").write_text(f"# How to work here\n\n{text}", encoding="utf-8")
    draws = random.Random(f"sessions {seed}")
    with (folder / "sessions.jsonl").open("w", encoding="utf-8") as log:
        for number in range(sessions):
            log.writelines(f"{json.dumps(row)}\n" for row in _session(draws, lines, number))
    return lines


def registry_of(folder: Path) -> Registry:
    """Make a registry of such a folder, with its CLAUDE.md imported and its sessions read."""
    registry = new_registry(folder, TickingClock())
    registry.execute(ImportSkill(read_instructions(folder / "CLAUDE.md", "CLAUDE.md")))
    take_in_scan(registry, scan([folder / "sessions.jsonl"]))
    return registry


def _session(draws: random.Random, lines: list[PlantedLine], number: int) -> Iterator[dict[str, object]]:
    agent = draws.choice(list(_AGENTS))
    obeys, better = _AGENTS[agent]
    chance, parts = 0.5 + better, []
    for line in lines:
        if not line.ignored or draws.random() > APPLIES:
            continue
        obeyed = draws.random() < obeys
        gain = {"helpful": EFFECT, "harmful": -EFFECT}.get(line.kind, 0.0)
        chance += gain * (0.5 if obeyed else -0.5)
        parts.append(line.obeyed if obeyed else line.ignored)
    draws.shuffle(parts)
    name = f"session-{number}"
    yield {"type": "episode", "episode": name, "task": f"task-{number}", "run": agent, "prompt": f"Do {number}."}
    for part in parts:
        if draws.random() < 0.4:
            yield {"type": "step", "episode": name, "tool": draws.choice(_FILLERS), "text": f"file-{number}.py"}
        for command in part:
            failed = draws.random() < 0.1
            error = {"error": True, "error_text": f"{command}: exit status 1"} if failed else {}
            yield {"type": "step", "episode": name, "tool": "Bash", "text": command, **error}
    won = draws.random() < chance
    yield {"type": "outcome", "episode": name, "value": int(won), "source": "tests", "ended_by": "agent"}
