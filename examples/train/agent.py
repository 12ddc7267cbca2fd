"""An agent that is a program: it does what the skill says, and what most people would guess where it says nothing.

python3 agent.py SKILL_DIR PROMPT_FILE
"""

import re
import sys
from pathlib import Path

skill = Path(sys.argv[1], "SKILL.md")
rules = skill.read_text(encoding="utf-8") if skill.exists() else ""
prompt = Path(sys.argv[2]).read_text(encoding="utf-8")
by_heart = dict(re.findall(r'If asked "(.+?)", answer `(.*?)`', rules))


def answer() -> str:
    """Answer by heart, by a rule, or by a guess."""
    if prompt.strip() in by_heart:
        return str(by_heart[prompt.strip()])
    if day := re.search(r"(\d\d)/(\d\d)/(\d{4})", prompt):
        first, second, year = day.groups()
        day_first = "day comes first" in rules
        return f"{year}-{second}-{first}" if day_first else f"{year}-{first}-{second}"
    least = 500 if "status of 500 or more" in rules else 400
    return str(sum(int(code) >= least for code in re.findall(r"\b[1-5]\d\d\b", prompt)))


print(answer())
