"""The epochs of a training in the report: what was gained adds up from nothing, with the audit beside it."""

from __future__ import annotations

from events.types.training_events import TrainingEpochEnded
from strategies.train.training_record import EpochRow
from tests.html_page import Page
from tui.report.charts import epoch_charts
from tui.report.page import environment


def row(number: int, explored: float | None, sealed: float | None, audit: float | None) -> EpochRow:
    epoch = TrainingEpochEnded(
        training="t", capsule="desk", epoch=number, version=number, explored=explored, promoted=(), held=(),
        rejected=(), lines=9, tokens=80, runs=100 * number, cost_usd=0.0, because="",
    )  # fmt: skip
    return EpochRow(epoch, sealed, audit)


def test_gains_add_up_from_the_start_and_the_audit_is_told_by_its_shape() -> None:
    rows = [row(1, 0.2, None, None), row(2, 0.3, 0.25, 0.125), row(3, 0.6, 0.25, -0.25)]
    (gained, first), (shown, second) = epoch_charts(environment(), "desk", rows)
    assert (gained, shown) == ("gained since the start", "runs that the proposer was shown")
    page = Page(first)
    assert not page.faults
    assert page.all("svg")[0].attributes["aria-label"] == "desk, gained in 3 epochs: sealed +.500; audit −.125"
    sealed = page.all("circle")
    heights = [float(dot.attributes["cy"]) for dot in sealed]
    assert len(heights) == 4  # the start, and each epoch
    assert heights[0] == heights[1] > heights[2] > heights[3]
    assert len(page.all("rect")) == 4
    assert [text.text for text in page.all("text")][-2:] == ["start", "epoch 3"]
    assert "by epoch: .200 to .600" in second


def test_a_training_that_gained_nothing_and_explored_nothing_draws_a_flat_line() -> None:
    ((_, chart),) = epoch_charts(environment(), "desk", [row(1, None, None, None)])
    page = Page(chart)
    assert "sealed ±.000" in page.all("svg")[0].attributes["aria-label"]
    assert not page.all("rect")  # no audit was run
