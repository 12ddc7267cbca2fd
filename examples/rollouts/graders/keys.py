"""Grade a summary: its keys are sorted, and it counts the rows that there are."""

from __future__ import annotations

import json
import sys


def main() -> int:
    """Print the share of what is right."""
    try:
        with open("summary.json", encoding="utf-8") as summary, open("people.csv", encoding="utf-8") as people:  # noqa: PTH123 - pathlib would double the start of a run
            said, rows = json.load(summary), len(people.readlines()) - 1
        print((list(said) == sorted(said)) * (said["rows"] == rows) * 1.0)
    except (OSError, ValueError, KeyError, TypeError):
        print(0.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
