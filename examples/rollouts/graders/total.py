"""Grade the total of paid orders: add it up from the orders themselves, in cents."""

from __future__ import annotations

import re
import sys


def main() -> int:
    """Tell by the exit code whether the answer is right."""
    with open("shop.sql", encoding="utf-8") as orders:  # noqa: PTH123 - pathlib would double the start of a run
        sold = re.findall(r"VALUES \(\d+, '[^']*', (\d+), 'paid'\)", orders.read())
    try:
        with open("answer.txt", encoding="utf-8") as answer:  # noqa: PTH123 - the same
            said = float(answer.read())
    except (OSError, ValueError):
        return 1
    return 0 if abs(said - sum(map(int, sold)) / 100) < 0.005 else 1


if __name__ == "__main__":
    sys.exit(main())
