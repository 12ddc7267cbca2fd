"""Clear old settings away: all but the base."""

from pathlib import Path

for file in sorted(Path("config").glob("*.json"))[1:]:
    file.unlink()
    print(f"deleted {file}")
