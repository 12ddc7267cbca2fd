"""Proposers of a training: a command, Python, a plug-in, a model; what breaks is named, what decides is hidden."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.errors import UpstreamError, UsageError
from events.model_errors import RateLimitedError
from events.types.training_events import TrainingEpochEnded
from strategies.models.tasks.training_case import FailedLayer, Minibatch, SkillLineShown, TaskAttempt, TrainingCase
from strategies.sandbox.confined_run import SandboxPolicy
from strategies.train import training_proposers
from strategies.train.train_skill import train
from strategies.train.training_plan import TrainingPlan
from strategies.train.training_proposers import CommandProposer, ReflectProposer, local_proposer
from tests.anthropic_stub import AnthropicStub, declines, gives, rate_limited, says
from tests.asking import asked, asking
from tests.confining import require_isolation
from tests.fake_runs import FakeRunner, planted, rig
from tests.planted import TOKEN
from tests.registries import NAME, live_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.registry import Registry
    from strategies.train.training_proposers import TrainingProposer

CASE = TrainingCase(
    skill=NAME,
    epoch=1,
    seed=7,
    lines=(SkillLineShown(gene="sql-analyst.1", line=1, text="- Round nothing."),),
    batches=(
        Minibatch(
            kind="failures",
            attempts=(TaskAttempt(task="a", prompt="Do a.", tags=(), value=0.0, passed=False, work="it slept"),),
        ),
    ),
    tried=(),
    steering="Short answers.",
    notes="",
    most_edits=4,
    most_changes=8,
)
CHANGE = {"reason": "it failed", "edits": [{"op": "append", "gene": "sql-analyst.1", "text": "- Wake up."}]}


def command(tmp_path: Path, code: str, tasks: Path | None = None, more: str = "") -> TrainingProposer:
    """Make a proposer of a script."""
    require_isolation()
    script = tmp_path / "propose.py"
    script.write_text(code)
    return local_proposer(f"{sys.executable} -I -S {script}{more}", SandboxPolicy(), tasks=tasks)


def test_a_command_reads_the_case_and_prints_changes(tmp_path: Path) -> None:
    printed = json.dumps({"changes": [CHANGE]})
    code = f"""
import json, sys
case = json.load(sys.stdin)
assert case["batches"][0]["attempts"][0]["work"] == "it slept"
print({printed!r})
"""
    ((change, actor),) = command(tmp_path, code).propose(CASE)

    assert change.edits[0].text == "- Wake up."
    assert actor.startswith("proposer:")


def test_no_proposer_is_shown_a_secret_in_the_note_of_a_grader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = TaskAttempt(
        task="a",
        prompt="Do a.",
        tags=(),
        value=0.0,
        passed=False,
        failed_layers=(FailedLayer(name="check", value=0.0, threshold=1.0, note=f"sent {TOKEN}"),),
    )
    case = CASE.model_copy(update={"batches": (Minibatch(kind="failures", attempts=(failed,)),)})
    noted = 'case["batches"][0]["attempts"][0]["failed_layers"][0]["note"]'
    change = f'{{"reason": {noted}, "edits": [{{"op": "append", "gene": "g", "text": "-"}}]}}'
    code = f'import json, sys\ncase = json.load(sys.stdin)\nprint(json.dumps({{"changes": [{change}]}}))'
    (tmp_path / "noting.py").write_text(
        f"import json\ndef propose(case):\n    case = json.loads(case.model_dump_json())\n    return [{change}]"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for proposer in (command(tmp_path, code), local_proposer("noting:propose", SandboxPolicy())):
        ((proposed, _),) = proposer.propose(case)
        assert proposed.reason == "sent [github-token]"


@pytest.mark.parametrize("folder", ["evals", "."], ids=["apart from them", "beside them"])
def test_a_command_cannot_read_the_tasks_that_decide(tmp_path: Path, folder: str) -> None:
    tasks = tmp_path / folder / "tasks.jsonl"
    tasks.parent.mkdir(exist_ok=True)
    tasks.write_text("the sealed ones")
    proposer = command(tmp_path, f"print('read:' + open({str(tasks)!r}).read())", tasks=tasks)

    with pytest.raises(UpstreamError) as refused:
        proposer.propose(CASE)
    assert "the sealed ones" not in refused.value.message


def test_a_secret_in_a_command_is_in_no_name_that_events_keep(tmp_path: Path) -> None:
    secret = f"sk-ant-api03-{'Ab3' * 31}AA"
    code = f"import json, sys\nassert sys.argv[1] == {secret!r}\nprint({json.dumps({'changes': [CHANGE]})!r})"
    proposer = command(tmp_path, code, more=f" {secret}")
    ((_, actor),) = proposer.propose(CASE)

    assert secret not in proposer.name + actor


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys\nsys.exit('no licence')", "failed .exited, code 1.: no licence"),
        ("print('I would sort the keys.')", "no changes that can be read"),
        ('print(\'{"changes": [{"reason": "r"}]}\')', "no changes that can be read: changes.0.edits"),
    ],
)
def test_a_command_that_fails_or_prints_something_else_is_named(tmp_path: Path, code: str, message: str) -> None:
    with pytest.raises(UpstreamError, match=message):
        command(tmp_path, code).propose(CASE)


PLUGIN = """
def function(case):
    return [{"reason": "it failed", "edits": [{"op": "append", "gene": case.lines[0].gene, "text": "- Wake up."}]}]

class Whole:
    def propose(self, case):
        return function(case)

def broken(case):
    raise KeyError("licence")

def circular(case):
    change = {}
    change["edits"] = change
    return [change]
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with proposers, as pip would."""
    site = tmp_path / "site"
    (site / "ours-1.0.dist-info").mkdir(parents=True)
    (site / "plugged_proposers.py").write_text(PLUGIN)
    (site / "ours-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    named = {"whole": "Whole", "failing": "broken", "circular": "circular"}
    entries = "".join(f"{name} = plugged_proposers:{attribute}\n" for name, attribute in named.items())
    (site / "ours-1.0.dist-info" / "entry_points.txt").write_text(f"[{training_proposers.GROUP}]\n{entries}")
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("plugged_proposers", None)


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("name", ["whole", "plugged_proposers:function", "plugged_proposers:Whole"])
def test_python_proposes_by_the_name_of_a_plug_in_or_by_its_place(name: str) -> None:
    ((change, _),) = local_proposer(name, SandboxPolicy()).propose(CASE)
    assert change.edits[0].text == "- Wake up."


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(("name", "error"), [("failing", "KeyError"), ("circular", "ValueError")])
def test_a_plug_in_that_breaks_is_named(name: str, error: str) -> None:
    with pytest.raises(UpstreamError, match=f"the proposer {name} broke: {error}"):
        local_proposer(name, SandboxPolicy()).propose(CASE)


@pytest.mark.parametrize(
    "name", ["nobody", "no_such_module:propose", "builtins:True", "python3 'open", "nowhere x"]
)
def test_what_is_no_proposer_is_refused_before_anything_is_run(name: str) -> None:
    with pytest.raises(UsageError):
        local_proposer(name, SandboxPolicy())


def test_a_folder_puts_no_program_in_the_place_of_one_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("sh", "propose.sh"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    asked = local_proposer("sh propose.sh", SandboxPolicy())
    assert isinstance(asked, CommandProposer)
    assert asked.argv[0] != str(tmp_path / "sh")
    assert asked.argv[1:] == (str(tmp_path / "propose.sh"),)


def line(text: str, gene: str = "sql-analyst.2") -> dict[str, object]:
    return {"reason": "several failed", "edits": [{"op": "append", "gene": gene, "target": [], "text": text}]}


HELPS = {"changes": [line("- HELPS: sort the keys.")]}
BOTH = {"changes": [line("- HELPS: sort the keys."), line("- Be quick.")]}


def trained(registry: Registry, stub: AnthropicStub, **settings: object) -> str:
    """Train one epoch with a model as proposer, and give the text."""
    with asking(registry, stub, stub.settings(**settings)) as model:
        plan = TrainingPlan(NAME, rig(registry, FakeRunner(planted)), ReflectProposer(model), epochs=1)
        train(replace(plan, own_steering="Short answers."))
    return live_text(registry)


@pytest.mark.usefixtures("place")
def test_a_model_is_shown_failures_and_successes_under_their_own_rules_and_then_its_own_suggestions(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", gives(HELPS), gives(HELPS), gives(BOTH), gives(HELPS), gives(HELPS))
    text = trained(registry, stub)

    assert "HELPS" in text
    prompts = [json.dumps(each.body) for each in stub.asked("proposer")]
    systems = [json.dumps(each.body["system"]) for each in stub.asked("proposer")]
    assert "runs that went wrong" in systems[0]
    assert any("runs that went well" in system for system in systems)
    assert all("Short answers." in prompt for prompt in prompts)
    assert "These changes were suggested" in prompts[-1]
    sealed = rig(registry, FakeRunner(planted)).harness.divided.sealed
    assert not any(task.id in prompt or task.prompt in prompt for task in sealed for prompt in prompts)


@pytest.mark.usefixtures("place")
def test_a_model_that_suggests_nothing_is_not_asked_to_go_over_it(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", *[gives({"changes": []})] * 3)
    trained(registry, stub)

    prompts = [json.dumps(each.body) for each in stub.asked("proposer")]
    assert len(prompts) > 1
    assert not any("These changes were suggested" in prompt for prompt in prompts)


@pytest.mark.usefixtures("place")
def test_an_open_chat_server_ends_with_the_same_lines(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", *[gives(HELPS)] * 5)
    text = trained(registry, stub, proposer=f"openai:stub-proposer@{stub.base_url}/v1")

    assert "HELPS" in text


@pytest.mark.usefixtures("place")
def test_a_model_that_declines_or_answers_in_prose_ends_no_training(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", declines(), says("I would sort the keys."), says("Still prose."), gives(HELPS))
    text = trained(registry, stub)

    ended = next(event.event for event in registry.log.read(types=("TrainingEpochEnded",)))
    assert isinstance(ended, TrainingEpochEnded)
    assert ("HELPS" in text) == bool(ended.promoted)
    assert ended.because in {"", "nothing was suggested"}


@pytest.mark.usefixtures("place")
def test_what_a_model_said_names_it_and_its_cost_counts_against_the_cap(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", *[gives(HELPS)] * 5)
    trained(registry, stub)

    (candidate,) = registry.candidates(NAME)
    assert candidate.actor.startswith("model:stub-proposer")
    assert "several failed" not in candidate.proposed.reason  # a model's words may quote a transcript
    ended = next(event.event for event in registry.log.read(types=("TrainingEpochEnded",)))
    paid = sum(ask.cost_usd or 0 for ask in asked(registry))
    assert paid > 0
    assert isinstance(ended, TrainingEpochEnded)
    assert ended.cost_usd == pytest.approx(paid + 0.01 * ended.runs)


@pytest.mark.usefixtures("place")
def test_a_server_that_says_429_for_ever_ends_the_training_and_the_same_command_goes_on(
    registry: Registry, stub: AnthropicStub
) -> None:
    runner = FakeRunner(planted)
    stub.script("proposer", *[rate_limited()] * 50)
    with pytest.raises(RateLimitedError), asking(registry, stub, stub.settings()) as model:
        train(TrainingPlan(NAME, rig(registry, runner), ReflectProposer(model), epochs=1))
    explored = list(runner.seen)
    assert explored
    assert not registry.candidates(NAME)

    stub.afresh().script("proposer", *[gives(HELPS)] * 5)
    with asking(registry, stub, stub.settings()) as model:
        train(TrainingPlan(NAME, rig(registry, runner), ReflectProposer(model), epochs=1))
    assert "HELPS" in live_text(registry)
    assert len(runner.seen) == len(set(runner.seen))
    assert len(stub.asked("proposer")) <= 5
    assert {ask.cost_usd for ask in asked(registry) if ask.error == "rate_limited"} == {0.0}
