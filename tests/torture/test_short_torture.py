"""The short form of the torture, which CI runs: the same code as `make torture`, a few times of each."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.torture.contention import contend, turn_the_clock_back
from tests.torture.flips import cut_files, flip_bits, rewrite_history
from tests.torture.full_disk import fill_disk
from tests.torture.full_server import fill_server
from tests.torture.kills import kill_while_appending, kill_while_copying, kill_while_projecting
from tests.torture.strangers import walk_every_field
from tests.torture.tampering import rewrite_on_server, tamper
from tests.torture.trials import kill_during_trial, kill_while_picking

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres_server import Server
    from tests.torture.outcome import Outcome

SEED = 20261122


def held(outcome: Outcome) -> None:
    assert not outcome.failures, f"seed {SEED}: {outcome.report()}"


def held_on_a_small_disk(outcome: Outcome) -> None:
    if "no tmpfs" in outcome.remark:
        pytest.skip(outcome.remark)
    held(outcome)


def test_kill_9_loses_no_acknowledged_event_and_tears_no_projection(tmp_path: Path) -> None:
    held(kill_while_appending(Random(SEED), tmp_path, 2, what="write_back"))


def test_kill_9_while_skill_files_are_written_leaves_a_whole_version(tmp_path: Path) -> None:
    held(kill_while_projecting(Random(SEED), tmp_path, 1))


def test_kill_9_in_a_backup_or_a_restore_leaves_a_registry_that_verifies(tmp_path: Path) -> None:
    held(kill_while_copying(Random(SEED), tmp_path, 2))


def test_kill_9_a_jump_of_the_clock_and_an_edit_change_no_assignment_and_no_figure_of_a_trial(
    tmp_path: Path,
) -> None:
    held(kill_during_trial(Random(SEED), tmp_path, blocks=4, gain=0.0, often=0.3))


def test_a_session_that_was_given_its_arm_by_a_process_that_died_is_given_the_same_again(tmp_path: Path) -> None:
    held(kill_while_picking(Random(SEED), tmp_path, sessions=2))


def test_writers_readers_and_a_backup_at_once_lose_nothing(tmp_path: Path) -> None:
    held(contend(tmp_path, 3, 20))


def test_a_clock_that_runs_backwards_changes_no_order(tmp_path: Path) -> None:
    held(turn_the_clock_back(tmp_path, 4))


@pytest.mark.parametrize("in_log", [False, True])
def test_no_flipped_bit_is_silent(tmp_path: Path, *, in_log: bool) -> None:
    held(flip_bits(Random(SEED), tmp_path, 8, in_log=in_log))


def test_no_cut_is_silent(tmp_path: Path) -> None:
    held(cut_files(Random(SEED), tmp_path, 2))


def test_history_that_was_rewritten_as_a_whole_or_cut_contradicts_its_checkpoint(tmp_path: Path) -> None:
    held(rewrite_history(tmp_path))


def test_a_hostile_value_in_any_field_of_any_event_sends_writes_and_breaks_nothing(
    tmp_path: Path, memory: Path | None
) -> None:
    folder = (memory or tmp_path) / "strangers"  # what they wrote is asked, and no disk
    folder.mkdir()
    held(walk_every_field(Random(SEED), folder, 0.001, both_forms=False))


def test_a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room(tmp_path: Path) -> None:
    held_on_a_small_disk(fill_disk(tmp_path))


def test_nothing_that_an_owner_or_a_superuser_changes_on_postgresql_is_silent(postgres: Server) -> None:
    held(tamper(Random(SEED), postgres, 12, versions=2))


def test_history_that_was_rewritten_or_cut_on_postgresql_contradicts_its_checkpoint(postgres: Server) -> None:
    held(rewrite_on_server(postgres, versions=2))


def test_a_server_whose_disk_is_full_loses_nothing_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    held_on_a_small_disk(fill_server(tmp_path, 1))
