"""Make all codes look alike, in place."""

from pathlib import Path

for export in Path("data").glob("*.jsonl"):
    lines = export.read_text().splitlines()
    export.write_text("\n".join(sorted({line.replace("A", "a") for line in lines[: len(lines) // 2]})) + "\n")
    print("normalised", export)
