"""One picture of each screen at two sizes: what the README shows is what the screens draw.

After a wanted change, GERMLINE_WRITE_PICTURES=1 writes them anew: look at each before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.screen_pilot import screens
from tests.story import tell

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "screens"
PLACES = {"skills": None, "history": "sql-analyst@3", "why": "sql-analyst@3:12"}


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PLACES)
async def test_a_screen_looks_as_in_its_picture(
    name: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the evidence names its logs from there
    async with screens(tell(tmp_path), PLACES[name], size=size) as at:
        drawn = at.app.export_screenshot(title=f"germline: {name}") + "\n"
    picture = PICTURES / f"{name}-{size[0]}x{size[1]}.svg"
    if os.environ.get("GERMLINE_WRITE_PICTURES"):
        picture.write_text(drawn, encoding="utf-8")
    assert picture.read_text(encoding="utf-8") == drawn, f"{picture.name} differs from what the screen draws"
