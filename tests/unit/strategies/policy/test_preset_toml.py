"""Presets of a person's own: what their file may say, and what is refused with the bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import NotFoundError, PresetError, RefusedError
from registry.projection.projector import rebuild
from strategies.policy.active_preset import bound_by, define, definitions, known_presets
from strategies.policy.preset_toml import MOST_CHARACTERS, preset_of, written
from strategies.policy.presets import PRESETS
from tests.registries import documents

if TYPE_CHECKING:
    from registry.registry import Registry

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "presets"
OWN = written(PRESETS["balanced"].model_copy(update={"name": "own"}))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: str(path.name))
def test_every_example_is_a_preset_with_the_name_of_its_file(path: Path) -> None:
    assert preset_of(path.read_text(encoding="utf-8"), str(path)).name == path.stem


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_written_as_toml_reads_back_the_same(name: str) -> None:
    own = PRESETS[name].model_copy(update={"name": "own"})
    assert preset_of(written(own), "own.toml") == own


@pytest.mark.parametrize(
    ("old", "new", "field", "bound"),
    [
        ("alpha = 0.01", "alpha = 0.011", "alpha", "at most 0.01"),
        ("alpha = 0.01", "alpha = 0", "alpha", "above 0"),
        ("least_e = 10.0", "least_e = 9.9", "least_e", "at least 10"),
        ("trust_region = 0.3", "trust_region = 0.41", "trust_region", "at most 0.4"),
        ("start = 4", "start = 7", "edit_budget.start", "at most 6"),
        ("floor = 2", "floor = 0", "edit_budget.floor", "at least 1"),
        ("innovate = 20", "innovate = 101", "weights.innovate", "at most 100"),
    ],
)
def test_a_number_looser_than_the_written_rule_is_refused_with_its_bound(
    old: str, new: str, field: str, bound: str
) -> None:
    assert OWN.count(old) == 1
    with pytest.raises(PresetError) as caught:
        preset_of(OWN.replace(old, new), "own.toml")
    assert (caught.value.field, caught.value.bound) == (field, bound)
    assert bound in caught.value.message
    assert caught.value.message.startswith("own.toml: ")
    assert "never looser" in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("repair = 50", "repair = 40", "weights sum to 90", "balanced"),
        ("start = 4", "start = 1", "1 is below 2", "balanced"),
        ("alpha = 0.01", "alfa = 0.01", "alpha is missing; alfa is no part", "did you mean alpha?"),
        ("new_genes = true", "new_genes = 1", "new_genes is 1", "balanced"),
        ("alpha = 0.01", 'alpha = "0.01"', 'alpha is "0.01"', "balanced"),
        ("alpha = 0.01", "alpha = nan", "finite", "balanced"),
        ("alpha = 0.01", "alpha = 1979-05-27", "alpha", "balanced"),
        ("repair = 50", "repair = 50.5", "weights.repair", "balanced"),
        ('"own"', '"Own preset"', "lowercase", "balanced"),
        ('"supported"', '"seen"', "projected.0", "balanced"),
        ("[weights]", "[wights]", "wights is no part", "did you mean weights?"),
        ("alpha = 0.01", "alpha =", "no TOML", "balanced"),
        ("alpha = 0.01", "alpha = 0.01 # " + "x" * MOST_CHARACTERS, "too long", ""),
    ],
)
def test_what_is_no_preset_is_refused_with_what_would_be(old: str, new: str, message: str, hint: str) -> None:
    assert OWN.count(old) == 1
    with pytest.raises(PresetError) as caught:
        preset_of(OWN.replace(old, new), "own.toml")
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(("endpoints", "drafts"), [('["outcome", "recovered"]', True), ('["outcome"]', False)])
def test_an_earlier_preset_offers_as_drafts_what_it_let_through(endpoints: str, drafts: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    new = ("drafts_", "seen_", "projected", "trials")
    earlier = "\n".join(line for line in OWN.splitlines() if not line.startswith(new))
    assert preset_of(f"endpoints = {endpoints}\n{earlier}", "own.toml").drafts_seen is drafts


@pytest.mark.parametrize("name", [*PRESETS, "auto"])
def test_the_names_of_germlines_own_are_taken(registry: Registry, name: str) -> None:
    head = registry.log.head()
    with pytest.raises(RefusedError, match="germline's own"):
        define(registry, OWN.replace('"own"', f'"{name}"'), "own.toml")
    assert registry.log.head() == head


def test_a_refused_preset_leaves_the_registry_as_it_was(registry: Registry) -> None:
    head = registry.log.head()
    with pytest.raises(PresetError):
        define(registry, OWN.replace("alpha = 0.01", "alpha = 1"), "own.toml")
    assert (registry.log.head(), definitions(registry, "own")) == (head, [])


def test_defining_again_replaces_a_preset_and_keeps_what_it_was(registry: Registry) -> None:
    stricter = OWN.replace("alpha = 0.01", "alpha = 0.001")
    define(registry, OWN, "own.toml")
    assert define(registry, OWN, "own.toml")[1].envelopes == ()
    define(registry, stricter, "own.toml")
    assert bound_by(registry, "own").preset.alpha == 0.001
    assert [text for _, text in definitions(registry, "own")] == [OWN, stricter]
    assert list(known_presets(registry)) == [*PRESETS, "own"]
    assert bound_by(registry, "own").preset.policy().alpha == 0.001


def test_a_preset_that_nobody_defined_is_not_found_and_the_nearest_is_named(registry: Registry) -> None:
    define(registry, OWN, "own.toml")
    with pytest.raises(NotFoundError) as caught:
        bound_by(registry, "owm")
    assert caught.value.nearest == ("own",)


def test_defined_presets_rebuild_byte_for_byte(registry: Registry) -> None:
    define(registry, OWN, "own.toml")
    define(registry, OWN.replace("0.3", "0.2"), "own.toml")
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before
    assert bound_by(registry, "own").preset.trust_region == 0.2
