"""Where recorded logs and skills lie."""

from __future__ import annotations

import os
from pathlib import Path


def recorded_folder() -> Path:
    """Name the folder beside the project, or the one that the environment names."""
    named = os.environ.get("GERMLINE_TEST_DATA")
    return Path(named) if named else Path(__file__).resolve().parent.parent.parent / "shared" / "data"
