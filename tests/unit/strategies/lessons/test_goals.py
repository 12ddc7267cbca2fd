"""Goals: which later call tries for the same thing as one that failed."""

from __future__ import annotations

import pytest

from strategies.episodes.episode import Episode, Step
from strategies.episodes.episode_records import record_of
from strategies.files.log_records import Span
from strategies.lessons.goals import attempts_after


def episode(*calls: tuple[str, str]) -> Episode:
    """Make a session of shell commands and calls of tools; `!` before the tool is a failure."""
    steps = []
    for at, (tool, argument) in enumerate(calls):
        name, fails = tool.removeprefix("!"), tool.startswith("!")
        shell = name == "Bash"
        head = " ".join(argument.split()[:2]) if argument.startswith(("npm", "pnpm", "terraform", "git")) else ""
        steps.append(
            Step(
                index=at,
                turn=at,
                kind="call",
                actor="agent",
                tool=name,
                head=(head or argument.split()[0]) if shell else "",
                text=argument,
                error=fails,
                error_text="it failed" if fails else "",
                writes=name not in {"Read", "Grep"},
                span=Span(at, at + 1, at + 1),
            )
        )
    return Episode(id="e", source="/log", format="steps", steps=tuple(steps))


@pytest.mark.parametrize(
    ("later", "tries"),
    [
        ([("Bash", "python3 load.py")], True),  # another command for the same file
        ([("Bash", "python3 other.py")], False),
        ([("Bash", "python load.py")], True),
        ([("Bash", "python other.py")], False),  # the same command for something else
        ([("Bash", "ls"), ("Bash", "uv run scripts/load.py")], True),
        ([("Read", '{"file_path": "/w/load.py"}')], False),  # what reads a file does not run it
        ([("Bash", "ls")] * 10 + [("Bash", "python3 load.py")], False),  # too late
    ],
)
def test_a_later_call_tries_for_the_same_goal_by_class_and_by_shared_words(
    later: list[tuple[str, str]], *, tries: bool
) -> None:
    record = record_of(episode(("!Bash", "python load.py"), *later))
    attempts = [attempt.at for attempt in attempts_after(record, 0)]
    assert attempts == ([len(later)] if tries else [])


def test_commands_of_like_names_need_no_shared_word_where_neither_has_any() -> None:
    assert list(attempts_after(record_of(episode(("!Bash", "npm ci"), ("Bash", "pnpm i"))), 0))
    assert not list(attempts_after(record_of(episode(("!Bash", "npm ci"), ("Bash", "git status"))), 0))


def test_attempts_go_on_until_one_works() -> None:
    record = record_of(
        episode(
            ("!Bash", "python a.py"), ("!Bash", "python a.py"), ("Bash", "python3 a.py"), ("Bash", "python a.py")
        )
    )
    assert [tuple(attempt) for attempt in attempts_after(record, 0)] == [(0, 1), (1, 2)]


def test_what_a_call_is_about_is_kept_only_near_failures_and_never_as_text() -> None:
    quiet = record_of(episode(*[("Bash", "python load.py")] * 3))
    assert all(not step.words and not step.flags for step in quiet.steps)
    near = record_of(episode(("!Bash", "cargo build --bin api"), ("Bash", "cargo build --all --bin api")))
    assert near.steps[0].words == near.steps[1].words != ()
    assert near.steps[1].flags == ("--all", "--bin")
    assert max(near.steps[0].words) < len(near.steps[0].words)  # numbers of the episode, no hashes


def test_records_of_earlier_versions_know_attempts_of_the_same_class() -> None:
    import msgspec

    record = record_of(
        episode(("!Bash", "terraform plan"), ("Bash", "terraform init"), ("Bash", "terraform plan"))
    )
    bare = [msgspec.structs.replace(step, words=(), flags=(), worded=False) for step in record.steps]
    old = msgspec.structs.replace(record, steps=tuple(bare))
    assert [attempt.at for attempt in attempts_after(old, 0)] == [2]
