"""Ctrl-C ends a fit with the ranking so far, and leaves the selector as it was."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from featuremask import FeatureMaskSelector
from featuremask.exceptions import FitInterrupted
from featuremask.training import Callback

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 8))
Y = X[:, 2] + X[:, 5] > 0
EPOCH = 60


class End(Callback):
    """Ends training after an epoch, as early stopping does."""

    def on_epoch_end(self, state: Any) -> bool:
        return bool(state.epoch == EPOCH)


class CtrlC(Callback):
    """Presses Ctrl-C after an epoch, and waits until the fit knows."""

    def __init__(self, pressed: threading.Event, epoch: int = EPOCH) -> None:
        self.pressed, self.epoch = pressed, epoch

    def press(self) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert self.pressed.wait(60)
        time.sleep(0.3)

    def on_fit_begin(self, state: Any) -> None:
        if self.epoch == 0:
            self.press()

    def on_epoch_end(self, state: Any) -> None:
        if state.epoch == self.epoch:
            self.press()


@pytest.fixture
def pressed() -> Iterator[threading.Event]:
    """An event that is set when Ctrl-C has reached the caller."""
    event = threading.Event()

    def handler(*_: Any) -> None:
        event.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    yield event
    signal.signal(signal.SIGINT, before)


def selector(callback: Callback, **words: Any) -> FeatureMaskSelector:
    small = {"hidden_units": (8,), "max_epochs": 200, "random_state": 0}
    return FeatureMaskSelector(2, callbacks=[callback], **small | words)


@pytest.mark.parametrize("strategy", ["narrowing", "joint", "sequential"])
def test_an_interrupted_fit_holds_the_ranking_of_training_that_ended_there(
    pressed: threading.Event, strategy: str
) -> None:
    fit = selector(CtrlC(pressed), strategy=strategy)
    with pytest.raises(FitInterrupted) as stop:
        fit.fit(X, Y)
    ended = selector(End(), strategy=strategy).fit(X, Y)
    found = stop.value
    assert (found.epoch, found.progress) == (EPOCH + 1, EPOCH / 200)
    assert "with 30% of the training done" in str(found)
    assert np.array_equal(found.scores, ended.scores_)
    assert np.array_equal(found.shares, ended.feature_importances_)
    assert np.array_equal(found.ranking, ended.ranking_)
    assert np.array_equal(found.group_ranking, ended.group_ranking_)
    assert not hasattr(fit, "ranking_")


def test_before_the_first_step_there_is_no_ranking(pressed: threading.Event) -> None:
    with pytest.raises(KeyboardInterrupt) as stop:
        selector(CtrlC(pressed, epoch=0)).fit(X, Y)
    assert not isinstance(stop.value, FitInterrupted)


def test_of_many_rows_the_first_ones_are_read(
    pressed: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featuremask.training._read_out._CHUNK_ROWS", 10)
    whole, few = [], []
    for rows, found in ((10**6, whole), (20, few)):
        monkeypatch.setattr("featuremask.training._loop._ROWS_OF_A_GLANCE", rows)
        pressed.clear()
        with pytest.raises(FitInterrupted) as stop:
            selector(CtrlC(pressed), strategy="joint").fit(X, Y)
        found.append(stop.value.scores)
    assert not np.array_equal(whole[0], few[0])
    assert np.allclose(whole[0], few[0], atol=0.5 * np.ptp(whole[0]))


def test_with_a_checkpoint_the_fit_goes_on_from_the_last_whole_epoch(
    pressed: threading.Event, tmp_path: Any
) -> None:
    with pytest.raises(FitInterrupted):
        selector(CtrlC(pressed), checkpoint=tmp_path).fit(X, Y)
    again = selector(CtrlC(pressed, epoch=-1), checkpoint=tmp_path).fit(X, Y)
    peace = selector(CtrlC(pressed, epoch=-1)).fit(X, Y)
    assert np.array_equal(again.scores_, peace.scores_)
    assert len(again.history_) == 200
