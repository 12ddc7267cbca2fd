"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """Give the folder of recorded logs and skills that lies beside the project, or skip by name."""
    named = os.environ.get("GERMLINE_TEST_DATA")
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(named) if named else beside
    if not folder.is_dir():
        pytest.skip("recorded data is not beside the project: set GERMLINE_TEST_DATA")
    return folder
