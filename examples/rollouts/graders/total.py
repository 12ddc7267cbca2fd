"""Grade the total of paid orders: add it up from the orders themselves, in cents."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> int:
    """Tell by the exit code whether the answer is right."""
    sold = re.findall(r"VALUES \(\d+, '[^']*', (\d+), 'paid'\)", Path("shop.sql").read_text(encoding="utf-8"))
    try:
        said = float(Path("answer.txt").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 1
    return 0 if abs(said - sum(map(int, sold)) / 100) < 0.005 else 1


if __name__ == "__main__":
    sys.exit(main())
