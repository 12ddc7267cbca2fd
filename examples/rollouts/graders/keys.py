"""Grade a summary: its keys are sorted, and it counts the rows that there are."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> int:
    """Print the share of what is right."""
    try:
        said = json.loads(Path("summary.json").read_text(encoding="utf-8"))
        rows = len(Path("people.csv").read_text(encoding="utf-8").splitlines()) - 1
        print((list(said) == sorted(said)) * (said["rows"] == rows) * 1.0)
    except (OSError, ValueError, KeyError, TypeError):
        print(0.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
