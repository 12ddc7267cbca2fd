"""Archive the raw readings, so that nobody edits them by accident."""

from pathlib import Path

Path("archive").mkdir(exist_ok=True)
for raw in Path("data").iterdir():
    raw.rename(Path("archive") / raw.name)
    print("archived", raw.name)
