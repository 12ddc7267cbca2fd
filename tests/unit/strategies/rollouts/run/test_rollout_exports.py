"""Which finished runs may leave the registry, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strategies.rollouts.run.export import FinishedRun, examples, exportable, groups
from strategies.rollouts.run.messages_trial import RunTranscript
from strategies.rollouts.run.store import KeptRun
from strategies.rollouts.run.trial import Trial

if TYPE_CHECKING:
    from pydantic import JsonValue

PROMPT: dict[str, JsonValue] = {"role": "user", "content": [{"type": "text", "text": "Greet Ada."}]}
WORK: tuple[dict[str, JsonValue], ...] = (
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "sealed", "signature": "x"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "names.txt"}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Ada", "is_error": False}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Hello Ada"}]},
)


def run(name: str, score: float = 1.0, **changed: Any) -> FinishedRun:  # noqa: ANN401 - one field of several shapes
    """A finished run that may be exported, but for what is changed."""
    of_trial: dict[str, Any] = {key: changed.pop(key) for key in ("status", "tampering") if key in changed}
    decision = changed.pop("decision", "approve")
    trial = Trial(task="greet", status="done", value=score, transcript=f"blob {name}").model_copy(update=of_trial)
    transcript_fields = {
        "task": "greet",
        "split": "sealed",
        "skill": "greeter",
        "model": "m",
        "skill_mode": "injected",
        "loaded": False,
        "system": "You greet.",
        "tools": ({"name": "read_file", "description": "Read.", "input_schema": {"type": "object"}},),
        "messages": (PROMPT, *WORK),
        "answer": "Hello Ada",
    }
    return FinishedRun(
        name,
        KeptRun(key=name, arm="greeter@1", round=0, trial=trial),
        RunTranscript(**{**transcript_fields, **changed}),
        decision,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"decision": ""},
        {"decision": "reject"},
        {"split": "audit"},
        {"tampering": ("agent: tried to write skill/x",)},
    ],
    ids=["nobody looked", "refused", "audit", "tampered"],
)
def test_what_was_not_let_go_or_is_of_no_worth_stays(changed: dict[str, Any]) -> None:
    assert exportable([run("a"), run("b", **changed)]) == [run("a")]


def test_an_example_is_a_conversation_as_chat_templates_have_it() -> None:
    (example,) = examples([run("a")])
    assert example["messages"] == [
        {"role": "system", "content": "You greet."},
        {"role": "user", "content": "Greet Ada."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "t1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": {"path": "names.txt"}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "Ada"},
        {"role": "assistant", "content": "Hello Ada"},
    ]
    assert example["tools"][0]["function"]["parameters"] == {"type": "object"}
    assert (example["run"], example["version"], example["score"]) == ("a", "greeter@1", 1.0)


def test_only_runs_of_80_and_more_that_ended_by_themselves_are_examples() -> None:
    runs = [run("a", 0.8), run("b", 0.79), run("c", 0.9, status="stopped")]
    assert [example["run"] for example in examples(runs)] == ["a"]


def test_a_group_holds_all_runs_of_one_prompt_with_advantages_that_sum_to_nothing() -> None:
    runs = [run("a", 1.0), run("b", 0.5), run("c", 0.0, status="stopped"), run("d", 1.0, system="You must greet.")]
    (group,) = groups(runs)
    assert [turn["role"] for turn in group["prompt"]] == ["system", "user"]
    gains = {completion["run"]: completion["advantage"] for completion in group["completions"]}
    assert gains["a"] == pytest.approx(-gains["c"])
    assert gains["a"] > gains["b"] == pytest.approx(0.0)
    assert [completion["reward"] for completion in group["completions"]] == [1.0, 0.5, 0.0]


def test_a_group_in_which_all_did_alike_teaches_nothing() -> None:
    assert list(groups([run("a", 0.5), run("b", 0.5)])) == []
