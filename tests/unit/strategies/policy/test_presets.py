from __future__ import annotations

import pytest
from pydantic import ValidationError

from strategies.policy.presets import DEFAULT_PRESET, PRESETS, EditBudget, Preset, Weights
from strategies.policy.written_rules import WRITTEN_RULE

TABLE = """
balanced        | 50 / 30 / 20  | 4 → 2 | 30 % | yes | .01  | 10 | yes
innovate        | 15 / 15 / 70  | 6 → 3 | 40 % | yes | .01  | 10 | yes
harden          | 25 / 60 / 15  | 3 → 2 | 20 % | yes | .005 | 20 | yes
repair-only     | 100 / 0 / 0   | 2 → 1 | 15 % | no  | .01  | 10 | yes
early-stabilize | 60 / 35 / 5   | 4 → 2 | 30 % | yes | .01  | 10 | yes
steady-state    | 60 / 30 / 10  | 1 → 1 | 10 % | no  | .002 | 50 | yes
"""


def written(preset: Preset) -> tuple[str, ...]:
    weights, budget = preset.weights, preset.edit_budget
    return (
        preset.name,
        f"{weights.repair} / {weights.harden} / {weights.innovate}",
        f"{budget.start} → {budget.floor}",
        f"{preset.trust_region:.0%}".replace("%", " %"),
        "yes" if preset.new_genes else "no",
        f"{preset.alpha:g}".removeprefix("0"),
        f"{preset.least_e:g}",
        "yes" if preset.auto_revert else "no",
    )


def test_the_presets_are_those_of_the_page() -> None:
    rows = [tuple(cell.strip() for cell in row.split("|")) for row in TABLE.strip().splitlines()]
    assert [written(preset) for preset in PRESETS.values()] == rows
    assert rows[0][0] == DEFAULT_PRESET


def test_every_preset_keeps_the_written_rule_or_tightens_it() -> None:
    for preset in PRESETS.values():
        assert preset.policy().alpha <= WRITTEN_RULE.alpha
        assert preset.policy().model_copy(update={"alpha": WRITTEN_RULE.alpha}) == WRITTEN_RULE


def test_no_preset_projects_seen_lines_and_steady_state_alone_does_not_offer_them() -> None:
    assert all(set(preset.projected) == {"supported", "proven"} for preset in PRESETS.values())
    assert [name for name, preset in PRESETS.items() if not preset.drafts_seen] == ["steady-state"]


@pytest.mark.parametrize(
    "looser",
    [{"alpha": 0.02}, {"least_e": 5.0}, {"projected": ("seen",)}, {"seen_sessions": 201}, {"seen_days": 91}],
)
def test_a_preset_that_loosens_the_gate_is_refused(looser: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Preset.model_validate(PRESETS["balanced"].model_dump() | looser)


def test_weights_that_do_not_sum_to_a_hundred_are_refused() -> None:
    with pytest.raises(ValidationError, match="sum to 90"):
        Weights(repair=50, harden=30, innovate=10)


def test_the_edit_budget_falls_from_start_to_floor() -> None:
    points = (0.0, 0.25, 0.5, 0.75, 1.0)
    assert [EditBudget(start=6, floor=2).at(t) for t in points] == [6, 5, 4, 3, 2]
    assert [EditBudget(start=6, floor=2, schedule="linear").at(t) for t in points] == [6, 5, 4, 3, 2]
    assert [EditBudget(start=4, floor=2, schedule="constant").at(t) for t in points] == [4] * 5
    assert EditBudget(start=4, floor=2).at(7.0) == 2
