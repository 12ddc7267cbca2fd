"""A program: runs scripts of a Harbor task in the sandbox, and prints the reward that the verifier wrote.

Arguments: bash, the working directory of the image, the folder of the task, then `tests/test.sh`, or before it
`solution/solve.sh`. It starts in the copy of the workspace. In the scripts, paths of the container (/app, /tests,
/solution, /logs, /tmp) become those of the sandbox. Nothing of germline is imported.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS, _SOLUTION = "tests", "solution"
_TAIL_LINES, _TAIL_BYTES = 3, 64 * 1024


def main() -> int:
    """Run the scripts; exit code 1 where no reward is written."""
    bash, workdir, task, *scripts = sys.argv[1:]
    room, workspace = Path(os.environ["TMPDIR"]), Path.cwd()
    rewards = room / "logs" / "verifier"
    for folder in (rewards, room / "logs" / "agent", room / "logs" / "artifacts"):
        folder.mkdir(parents=True)
    places = {workdir: workspace, "/logs": room / "logs", "/tmp": room}  # noqa: S108 - a path of the container
    places |= {f"/{name}": room / name for name in (_TESTS, _SOLUTION)}
    for name in (_TESTS, _SOLUTION):
        _copy(Path(task) / name, room / name, places)
    for script in scripts:
        with tempfile.TemporaryFile(dir=room) as output:  # a pipe would wait for what a script leaves running
            ran = subprocess.run(  # noqa: S603 - what the sandbox is there for
                [bash, str(room / script)], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
            output.seek(max(output.tell() - _TAIL_BYTES, 0))
            tail = output.read(_TAIL_BYTES).decode(errors="replace")
        last = [*tail.strip().splitlines()[-_TAIL_LINES:], f"exit code {ran.returncode}"]
        sys.stderr.write(f"{script}: {' / '.join(last)}\n")
    reward = reward_in(lambda name: written_in(rewards / name))
    sys.stdout.write(reward)
    return 0 if reward else 1


def reward_in(written: "Callable[[str], str]") -> str:
    """Read the reward: `reward` or the only number of reward.json, else reward.txt; "" where there is none.

    `written` gives the text of a file, by its name, "" where there is none.
    """
    try:
        whole = json.loads(written("reward.json"), parse_int=float)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        numbers = {name: value for name, value in whole.items() if isinstance(value, int | float)}
        whole = numbers.get("reward", next(iter(numbers.values())) if len(numbers) == 1 else None)
    if isinstance(whole, int | float):
        return repr(float(whole))
    return written("reward.txt").strip()


def written_in(file: Path) -> str:
    """Read what a verifier wrote; "" where that is no file, as a pipe, which would wait for a writer."""
    try:
        return file.read_text(errors="replace")[:_TAIL_BYTES] if file.is_file() else ""
    except OSError:
        return ""


def _copy(source: Path, target: Path, places: dict[str, Path]) -> None:
    """Copy a folder, with the paths of the container in its texts as those of the sandbox."""
    known = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    inside = re.compile(rf"(?<![\w./~}})-])(?:{known})(?![\w.-])")
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        content = file.read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            place.write_bytes(content)
        else:
            place.write_text(inside.sub(lambda path: str(places[path[0]]), text), newline="")
        place.chmod(file.stat().st_mode | 0o600)


if __name__ == "__main__":
    sys.exit(main())
