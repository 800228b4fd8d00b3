"""Callbacks see each epoch, may end training, and leave nothing behind."""

import io
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.objectives import Classes
from featuremask.sources import ArraySource
from featuremask.training import (
    Callback,
    EarlyStopping,
    ImportanceRecorder,
    ProgressBar,
    TrainingState,
)


class Diary(Callback):
    """Writes down what is called, under a name."""

    def __init__(self, pages: list[str], name: str, stop_after: int | None = None) -> None:
        self.pages, self.name, self.stop_after = pages, name, stop_after

    def on_fit_begin(self, state: TrainingState) -> None:
        self.pages.append(f"{self.name} begin {state.epoch}")

    def on_epoch_end(self, state: TrainingState) -> bool | None:
        self.pages.append(f"{self.name} epoch {state.epoch} step {state.step}")
        return state.epoch == self.stop_after

    def on_fit_end(self, state: TrainingState) -> None:
        self.pages.append(f"{self.name} end {state.epoch}")

    def on_fit_failed(self, state: TrainingState) -> None:
        self.pages.append(f"{self.name} failed {state.epoch}")


# ---- the protocol ---------------------------------------------------------------------------


def test_callbacks_are_called_in_the_order_given(problem: Any) -> None:
    pages: list[str] = []
    problem.fit(epochs=2, callbacks=[Diary(pages, "a"), Diary(pages, "b")])
    expected = ["begin 0", "epoch 1 step 3", "epoch 2 step 6", "end 2"]
    assert pages == [f"{name} {what}" for what in expected for name in "ab"]


def test_a_callback_that_returns_true_ends_training_after_the_others_were_told(
    problem: Any,
) -> None:
    pages: list[str] = []
    stopper, other = Diary(pages, "a", stop_after=2), Diary(pages, "b")
    assert len(problem.fit(epochs=9, callbacks=[stopper, other]).history) == 2
    assert pages[-4:] == ["a epoch 2 step 6", "b epoch 2 step 6", "a end 2", "b end 2"]


def test_callbacks_are_told_of_a_failure_and_not_of_an_end(problem: Any) -> None:
    pages: list[str] = []

    def loss(output: Tensor, target: Tensor) -> Tensor:
        if len(pages) > 1:
            raise LookupError("mine")
        return output.sum(1)

    with pytest.raises(LookupError, match="mine"):
        problem.fit(problem.model(), Classes(2, loss), callbacks=[Diary(pages, "a")])
    assert pages == ["a begin 0", "a epoch 1 step 3", "a failed 1"]


def test_an_error_in_a_callback_comes_through(problem: Any) -> None:
    class Broken(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            raise LookupError("in the callback")

    with pytest.raises(LookupError, match="in the callback"):
        problem.fit(callbacks=[Broken()])


def test_a_callback_sees_the_state_and_the_record_of_its_epoch(problem: Any) -> None:
    seen: list[Any] = []

    class Look(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            seen.append((state.epoch, state.total_steps, state.stopped, dict(state.history[-1])))

    history = problem.fit(epochs=2, callbacks=[Look()]).history
    assert [entry[:3] for entry in seen] == [(1, 6, False), (2, 6, True)]
    assert [entry[3] for entry in seen] == history


def test_a_callback_may_read_the_importance_without_disturbing_training(problem: Any) -> None:
    plain = problem.fit(problem.model(dropout=0.5), epochs=4)
    recorder = ImportanceRecorder()
    watched = problem.fit(problem.model(dropout=0.5), epochs=4, callbacks=[recorder])
    assert torch.equal(plain.importance.scores, watched.importance.scores)
    assert [r["loss"] for r in plain.history] == [r["loss"] for r in watched.history]


# ---- early stopping -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noise() -> tuple[ArraySource, ArraySource]:
    """Rows with labels that mean nothing: what is learned of them does not hold for others."""
    rng = np.random.default_rng(3)
    parts = [
        (rng.normal(size=(40, 8)).astype(np.float32), torch.from_numpy(rng.integers(2, size=40)))
        for _ in range(2)
    ]
    return ArraySource(*parts[0]), ArraySource(*parts[1])


def test_early_stopping_ends_training_after_its_patience(problem: Any, noise: Any) -> None:
    train, held = noise
    history = problem.fit(
        source=train, validation=held, epochs=500, callbacks=[EarlyStopping(patience=4)]
    ).history
    losses = [record["validation_loss"] for record in history]
    assert len(history) < 500
    assert len(history) == int(np.argmin(losses)) + 1 + 4


def test_early_stopping_goes_back_to_the_best_epoch(problem: Any, noise: Any) -> None:
    train, held = noise
    best: dict[str, Tensor] = {}

    class KeepBest(Callback):
        lowest = float("inf")

        def on_epoch_end(self, state: TrainingState) -> None:
            if state.history[-1]["validation_loss"] < self.lowest:
                self.lowest = state.history[-1]["validation_loss"]
                best.update({k: v.clone() for k, v in state.model.named_parameters()})

    model = problem.model()
    problem.fit(
        model,
        source=train,
        validation=held,
        epochs=500,
        callbacks=[KeepBest(), EarlyStopping(patience=6)],
    )
    assert all(torch.equal(p, best[name]) for name, p in model.named_parameters())


def test_early_stopping_may_leave_the_last_weights(problem: Any, noise: Any) -> None:
    train, held = noise
    models = [problem.model(), problem.model()]
    stopping = EarlyStopping(patience=6, restore_best=False)
    options = {"source": train, "validation": held}
    epochs = len(problem.fit(models[0], epochs=500, callbacks=[stopping], **options).history)
    problem.fit(models[1], epochs=epochs, **options)
    assert all(torch.equal(a, b) for a, b in zip(*(m.parameters() for m in models), strict=True))


def test_a_fall_smaller_than_the_tolerance_does_not_count(problem: Any) -> None:
    stopping = EarlyStopping(patience=2, tolerance=0.99)
    history = problem.fit(
        validation=problem.source, epochs=50, callbacks=[stopping], learning_rate=1e-4
    ).history
    assert len(history) == 3


def test_early_stopping_starts_anew_with_each_fit(problem: Any, noise: Any) -> None:
    train, held = noise
    stopping = EarlyStopping(patience=3)
    lengths = [
        len(problem.fit(source=train, validation=held, epochs=500, callbacks=[stopping]).history)
        for _ in range(2)
    ]
    assert lengths[0] == lengths[1]


def test_early_stopping_needs_a_validation_part(problem: Any) -> None:
    with pytest.raises(InputError, match=r"needs a validation part.*early_stopping=True"):
        problem.fit(callbacks=[EarlyStopping()])


@pytest.mark.parametrize("patience", [0, -1])
def test_patience_is_at_least_one_epoch(patience: int) -> None:
    with pytest.raises(InputError, match=f"patience must be at least 1 epoch; got {patience}"):
        EarlyStopping(patience)


# ---- the recorder of importance -------------------------------------------------------------


def test_the_recorder_keeps_every_nth_epoch(problem: Any) -> None:
    recorder = ImportanceRecorder(every=2)
    problem.fit(epochs=5, callbacks=[recorder])
    assert recorder.epochs == [2, 4]
    assert [scores.shape for scores in recorder.scores] == [(8,), (8,)]
    assert not torch.equal(*recorder.scores)


def test_the_last_record_is_the_result(problem: Any) -> None:
    recorder = ImportanceRecorder()
    result = problem.fit(epochs=3, callbacks=[recorder])
    assert torch.equal(recorder.scores[-1], result.importance.scores)
    assert result.importance.shares is not None
    assert torch.equal(recorder.shares[-1], result.importance.shares)


def test_the_recorder_goes_on_from_what_was_kept(problem: Any) -> None:
    recorder, other = ImportanceRecorder(), ImportanceRecorder()
    problem.fit(epochs=2, callbacks=[recorder])
    other.restore(recorder.tensors(), recorder.values())
    assert other.epochs == recorder.epochs
    assert all(map(torch.equal, other.scores, recorder.scores))
    assert all(map(torch.equal, other.shares, recorder.shares))


def test_the_recorder_starts_anew_with_each_fit(problem: Any) -> None:
    recorder = ImportanceRecorder()
    for _ in range(2):
        problem.fit(epochs=2, callbacks=[recorder])
    assert recorder.epochs == [1, 2]


def test_the_recorder_needs_a_positive_interval() -> None:
    with pytest.raises(InputError, match="every must be at least 1 epoch; got 0"):
        ImportanceRecorder(every=0)


# ---- progress -------------------------------------------------------------------------------


def test_without_a_terminal_progress_is_a_few_plain_lines(
    problem: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    problem.fit(epochs=40, callbacks=[ProgressBar(lines=4)])
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    pattern = r"epoch (\d+): loss \d+\.\d{4}, (\d+) % after \d+\.\d s, \d+ s left"
    found = [re.fullmatch(pattern, line) for line in lines]
    assert [(int(m[1]), int(m[2])) for m in found if m] == [(10, 25), (20, 50), (30, 75), (40, 100)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_progress_is_a_bar_that_goes_away(
    problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    problem.fit(epochs=3, callbacks=[ProgressBar()])
    assert "loss" in terminal.getvalue()
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


def test_a_failed_fit_gives_the_terminal_its_cursor_back(
    problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)

    class Broken(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        problem.fit(callbacks=[ProgressBar(), Broken()])
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


def test_a_loss_that_stays_is_no_fall() -> None:
    stopping = EarlyStopping(patience=3, restore_best=False)
    state: Any = SimpleNamespace(model=nn.Linear(1, 1), history=[], callbacks=[], epoch=0)
    stopping.on_fit_begin(state)
    ended = []
    for epoch in range(1, 6):
        state.epoch = epoch
        state.history.append({"epoch": epoch, "validation_loss": 0.5})
        ended.append(bool(stopping.on_epoch_end(state)))
    assert ended == [False, False, False, True, True]


def test_a_fall_counts_from_the_tolerance_on() -> None:
    def ends(*losses: float) -> list[bool]:
        stopping = EarlyStopping(patience=1, tolerance=0.1, restore_best=False)
        state: Any = SimpleNamespace(model=nn.Linear(1, 1), history=[], callbacks=[], epoch=0)
        stopping.on_fit_begin(state)
        found = []
        for state.epoch, loss in enumerate(losses, 1):
            state.history.append({"epoch": state.epoch, "validation_loss": loss})
            found.append(bool(stopping.on_epoch_end(state)))
        return found

    assert ends(2.0, 1.7, 1.5) == [False, False, False]
    assert ends(2.0, 1.85, 1.7) == [False, True, False]
    assert ends(-2.0, -2.1) == [False, True]
    assert ends(-2.0, -2.3) == [False, False]
