"""What the demo ships with: recordings of real commands (docs/demo.md) and two skills to improve."""

from __future__ import annotations

from pathlib import Path


def demo_folder() -> Path:
    """Give the folder that holds `recordings/sql`, `recordings/git` and `skills/`."""
    return Path(__file__).resolve().parent
