"""Instruction files: whatever is in them comes back byte for byte, and an edit changes its own bytes alone."""

from __future__ import annotations

from contextlib import closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from registry.actions.publish import publish, take_in_edits
from registry.decide.commands import ImportSkill, RevertVersion
from registry.decide.promote import edited
from registry.skill_md.instructions import read_instructions
from registry.skill_md.render import projected_lines, skill_bytes
from strategies.propose.placement import appended, home_of, placed_first
from tests.clocks import TickingClock
from tests.registries import new_registry

if TYPE_CHECKING:
    from events.types.parts import Edit
    from registry.registry import Registry

NAME = "CLAUDE.md"
FAST = settings(derandomize=True, deadline=None, max_examples=25)
LINES = st.sampled_from(
    [
        *("", " ", "\t", "text", "text  ", "# Title", "## SQL", "Title", "=====", "---", "--- ", "----", "***"),
        *("description: x", "name: [a, b", "globs: *.ts", "- item", "* item", "+ item", "1. one", "7) seven"),
        *(
            "  - nested",
            "    code",
            "@README.md",
            "@~/.claude/x.md",
            "<!-- a",
            "-->",
            "<!-- b -->",
            "```",
            "~~~sh",
        ),
        *(
            "> quote",
            "| a | b |",
            "<details>",
            "</details>",
            "\ufeff# odd",
            "caf\u00e9 \U0001f600",
            "a\u2028b",
            "a\rb",
        ),
        *("\x0c", "\x1b[31m", "\u200b", "#", "####### seven", "[x]: y", "\\", "{% raw %}", "metadata:"),
    ]
)
ENDINGS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\r\r\n"])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(LINES, ENDINGS), max_size=14))
    text = "".join(chain.from_iterable(lines)) + draw(st.sampled_from(["", "end", "- end", "\n"]))
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


def imported(folder: str, body: bytes) -> tuple[Registry, Path]:
    file = Path(folder, NAME)
    file.write_bytes(body)
    registry = new_registry(Path(folder), TickingClock())
    registry.execute(ImportSkill(read_instructions(file, NAME)))
    return registry, file


@FAST
@given(body=bodies(), data=st.data())
def test_what_is_imported_edited_by_hand_and_taken_back_is_the_same_bytes(
    memory: Path | None, body: bytes, data: st.DataObject
) -> None:
    with TemporaryDirectory(dir=memory) as folder:
        registry, file = imported(folder, body)
        with closing(registry.log):
            assert publish(registry, NAME) == ()
            assert skill_bytes(registry.capsule(NAME)) == body == file.read_bytes()

            lines = body.split(b"\n")
            at = data.draw(st.integers(0, len(lines) - 1))
            assume(lines[at].strip(b"\r") != b"by hand" and not (at == 0 and body.startswith(b"\xef\xbb\xbf")))
            by_hand = b"\n".join((*lines[:at], b"by hand", *lines[at + 1 :]))
            file.write_bytes(by_hand)
            take_in_edits(registry, NAME)
            assert skill_bytes(registry.capsule(NAME)) == by_hand == file.read_bytes()

            registry.execute(RevertVersion(NAME, 1, "as it was"))
            publish(registry, NAME)
            assert file.read_bytes() == body
            assert skill_bytes(registry.capsule(NAME, "2")) == by_hand


@FAST
@given(body=bodies(), first=st.booleans(), action=st.sampled_from(["sql:SELECT", "bash:ls", ""]))
def test_a_learned_line_is_added_as_whole_lines_and_every_other_byte_stays(
    memory: Path | None, body: bytes, action: str, *, first: bool
) -> None:
    with TemporaryDirectory(dir=memory) as folder:
        registry, _ = imported(folder, body)
        with closing(registry.log):
            capsule = registry.capsule(NAME)
        home = home_of(capsule, "f", action)
        assume(home is not None)
        assert home is not None
        edit: Edit = (placed_first if first else appended)(capsule, home, ["Learned."])
        after = edited(capsule, (edit,))
        old = [line.text for line in projected_lines(capsule)]
        new = [line.text for line in projected_lines(after)]
        learned = [at for at, line in enumerate(new) if "Learned." in line]
        assert len(learned) == 1
        left = [line for line, was in zip(new, projected_lines(after), strict=True) if was.version == 1]
        assert [line.rstrip("\r\n") for line in left] == [line.rstrip("\r\n") for line in old]
        changed = [(a, b) for a, b in zip(old, left, strict=True) if a != b]
        assert not changed or (changed == [(old[-1], left[-1])] and not old[-1].endswith("\n"))
        assert skill_bytes(after).endswith(b"\n") == body.endswith((b"\n", b"\xef\xbb\xbf") if body else b"")
