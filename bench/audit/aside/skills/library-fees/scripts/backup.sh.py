"""Save a copy of the export, and begin a new one."""

from pathlib import Path
from shutil import copyfile

export = Path("data/loans.json")
copyfile(export, "data/loans.backup")
export.write_text("[]\n")
print("saved 1 export")
