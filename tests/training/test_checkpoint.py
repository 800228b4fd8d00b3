"""A fit goes on from its checkpoint as if nothing had happened, and from no other's."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask import FeatureMaskSelector
from featuremask.exceptions import CheckpointError, InputError
from featuremask.networks import GatedNetwork
from featuremask.training import (
    Callback,
    Checkpoint,
    EarlyStopping,
    ImportanceRecorder,
    TrainingState,
)


class StopAt(Callback):
    """Breaks off a fit after an epoch, as a crash would."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == self.epoch:
            raise KeyboardInterrupt


class Count(Callback):
    """Counts the epochs that are really trained."""

    def __init__(self) -> None:
        self.epochs = 0

    def on_epoch_end(self, state: TrainingState) -> None:
        self.epochs += 1


def bits(result: Any, model: nn.Module) -> list[Tensor]:
    return [result.importance.scores, *model.state_dict().values()]


def same(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def broken_off(problem: Any, epoch: int, model: nn.Module, **options: Any) -> None:
    """Fit until after an epoch; the checkpoint of that epoch is not written any more."""
    callbacks = [*options.pop("callbacks", []), StopAt(epoch)]
    with pytest.raises(KeyboardInterrupt):
        problem.fit(model, callbacks=callbacks, **options)


# ---- going on -------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
@pytest.mark.parametrize("epoch", [1, 2, 6])
def test_a_fit_that_was_broken_off_ends_in_the_same_bits(
    problem: Any, tmp_path: Path, optimizer: str, epoch: int
) -> None:
    options: dict[str, Any] = {"epochs": 6, "optimizer": optimizer, "schedule": "cosine"}
    whole = problem.model(dropout=0.3)
    expected = problem.fit(whole, **options)
    broken_off(
        problem, epoch, problem.model(dropout=0.3), checkpoint=Checkpoint(tmp_path), **options
    )
    resumed = problem.model(dropout=0.3)
    result = problem.fit(resumed, checkpoint=Checkpoint(tmp_path), **options)
    assert same(bits(result, resumed), bits(expected, whole))
    assert [r["loss"] for r in result.history] == [r["loss"] for r in expected.history]


@pytest.mark.parametrize(("every", "repeated"), [(1, 3), (2, 4), (4, 6)])
def test_epochs_that_were_written_are_not_repeated(
    problem: Any, tmp_path: Path, every: int, repeated: int
) -> None:
    broken_off(problem, 4, problem.model(), epochs=6, checkpoint=Checkpoint(tmp_path, every))
    count = Count()
    history = problem.fit(
        epochs=6, checkpoint=Checkpoint(tmp_path, every), callbacks=[count]
    ).history
    assert count.epochs == repeated
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5, 6]


def test_a_finished_fit_is_not_repeated(problem: Any, tmp_path: Path) -> None:
    first_model, second_model = problem.model(), problem.model()
    counts = Count(), Count()
    first, second = (
        problem.fit(model, epochs=3, checkpoint=Checkpoint(tmp_path), callbacks=[count])
        for model, count in zip((first_model, second_model), counts, strict=True)
    )
    assert [count.epochs for count in counts] == [3, 0]
    assert same(bits(first, first_model), bits(second, second_model))
    assert first.history == second.history


def test_a_fit_that_a_callback_ended_is_not_prolonged(problem: Any, tmp_path: Path) -> None:
    class End(Count):
        def on_epoch_end(self, state: TrainingState) -> bool:
            super().on_epoch_end(state)
            return state.epoch == 2

    callbacks = End(), End()
    for callback in callbacks:
        problem.fit(epochs=9, checkpoint=Checkpoint(tmp_path), callbacks=[callback])
    assert [callback.epochs for callback in callbacks] == [2, 0]


def test_dropout_of_a_users_network_goes_on_where_it_was(problem: Any, tmp_path: Path) -> None:
    network = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 2))
    start = {name: value.clone() for name, value in network.state_dict().items()}

    def model() -> GatedNetwork:
        network.load_state_dict(start)
        return GatedNetwork(problem.model().gate, network)

    expected = bits(problem.fit(model(), epochs=4), network)
    expected = [value.clone() for value in expected]
    broken_off(problem, 3, model(), epochs=4, checkpoint=Checkpoint(tmp_path))
    torch.rand(7)
    result = problem.fit(model(), epochs=4, checkpoint=Checkpoint(tmp_path))
    assert same(bits(result, network), expected)


def test_early_stopping_and_the_recorder_go_on_where_they_were(
    problem: Any, tmp_path: Path, make_problem: Any
) -> None:
    held = make_problem(n_rows=30).source

    def run(epoch: int, checkpoint: Checkpoint | None) -> tuple[Any, Any, Any]:
        recorder, model = ImportanceRecorder(every=2), problem.model()
        callbacks = [recorder, EarlyStopping(patience=3, tolerance=0.05), StopAt(epoch)]
        options = {"epochs": 200, "validation": held, "learning_rate": 0.1}
        result = problem.fit(model, callbacks=callbacks, checkpoint=checkpoint, **options)
        return result, model, recorder

    expected, whole, scores = run(0, None)
    assert 4 < len(expected.history) < 200
    with pytest.raises(KeyboardInterrupt):
        run(len(expected.history) - 1, Checkpoint(tmp_path))
    result, resumed, again = run(0, Checkpoint(tmp_path))
    assert same(bits(result, resumed), bits(expected, whole))
    assert again.epochs == scores.epochs
    assert same(again.scores, scores.scores)


def test_it_may_be_written_every_few_seconds(problem: Any, tmp_path: Path) -> None:
    written: list[bool] = []

    class Slow(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            written.append((tmp_path / "checkpoint.safetensors").exists())
            time.sleep(0.02)

    checkpoint = Checkpoint(tmp_path, every_seconds=0.05)
    problem.fit(epochs=6, checkpoint=checkpoint, callbacks=[Slow()])
    assert written[0] is False
    assert written[1] is False
    assert written[-1] is True


def test_the_end_is_written_whatever_the_interval(problem: Any, tmp_path: Path) -> None:
    problem.fit(epochs=2, checkpoint=Checkpoint(tmp_path, every_seconds=1e6))
    assert (tmp_path / "checkpoint.safetensors").exists()


def test_one_file_is_left_and_leftovers_of_a_crash_go(problem: Any, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    folder.mkdir(parents=True)
    (folder / ".checkpoint.safetensors.abc123.tmp").write_bytes(b"half a file")
    (folder / "mine.txt").write_text("not a leftover")
    problem.fit(checkpoint=Checkpoint(folder))
    assert sorted(os.listdir(folder)) == ["checkpoint.safetensors", "mine.txt"]


@pytest.mark.parametrize("every", [0, -1])
def test_the_interval_is_positive(tmp_path: Path, every: int) -> None:
    with pytest.raises(InputError, match=f"every_epochs must be at least 1; got {every}"):
        Checkpoint(tmp_path, every_epochs=every)


# ---- what is refused ------------------------------------------------------------------------


def test_another_networks_checkpoint_is_refused(problem: Any, tmp_path: Path) -> None:
    problem.fit(checkpoint=Checkpoint(tmp_path))
    model = problem.model()
    with torch.no_grad():
        model.network[0].weight[0, 0] += 1e-6
    with pytest.raises(CheckpointError, match=r"belongs to another fit.*another folder"):
        problem.fit(model, checkpoint=Checkpoint(tmp_path))


def test_a_checkpoint_of_another_length_is_refused(problem: Any, tmp_path: Path) -> None:
    problem.fit(epochs=2, checkpoint=Checkpoint(tmp_path))
    with pytest.raises(CheckpointError, match="belongs to another fit"):
        problem.fit(epochs=3, checkpoint=Checkpoint(tmp_path))


def test_a_checkpoint_of_another_identity_is_refused(problem: Any, tmp_path: Path) -> None:
    problem.fit(checkpoint=Checkpoint(tmp_path, identity={"data": "a"}))
    with pytest.raises(CheckpointError, match="belongs to another fit"):
        problem.fit(checkpoint=Checkpoint(tmp_path, identity={"data": "b"}))


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(flipped, id="a byte flipped"),
        pytest.param(lambda content: content[:-1], id="cut off"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: b"\x80\x04K\x01.", id="a pickle"),
    ],
)
def test_a_damaged_checkpoint_is_refused(problem: Any, tmp_path: Path, damage: Any) -> None:
    checkpoint = Checkpoint(tmp_path)
    problem.fit(checkpoint=checkpoint)
    checkpoint.path.write_bytes(damage(checkpoint.path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"cannot be read.*Remove the file to start anew"):
        problem.fit(checkpoint=Checkpoint(tmp_path))


def test_a_saved_selector_is_no_checkpoint(problem: Any, tmp_path: Path) -> None:
    selector = FeatureMaskSelector(max_epochs=1, random_state=0).fit(problem.X, problem.y)
    selector.save(tmp_path / "checkpoint.safetensors")
    with pytest.raises(CheckpointError, match="holds a 'selector'; a 'checkpoint' was asked for"):
        problem.fit(checkpoint=Checkpoint(tmp_path))


# ---- the selector's checkpoint --------------------------------------------------------------

DATA = np.random.default_rng(0).normal(size=(300, 6))
LABELS = (DATA[:, 0] > 0).astype(int)


def fit_selector(folder: Path, X: Any = DATA, y: Any = LABELS, **words: Any) -> Any:
    """Fit with a checkpoint; the sample weights are among the words."""
    weight = words.pop("sample_weight", None)
    given = {"max_epochs": 2, "random_state": 0, "checkpoint": folder, **words}
    return FeatureMaskSelector(**given).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("kind", [str, Path, Checkpoint])
def test_a_selector_takes_a_folder_or_a_checkpoint(tmp_path: Path, kind: Any) -> None:
    first = fit_selector(tmp_path, checkpoint=kind(tmp_path))
    count = Count()
    again = fit_selector(tmp_path, checkpoint=kind(tmp_path), callbacks=[count])
    assert count.epochs == 0
    assert first.history_ == again.history_
    assert np.array_equal(first.scores_, again.scores_)


@pytest.mark.parametrize("kind", [Path, Checkpoint])
@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"X": DATA[::-1]}, id="rows in another order"),
        pytest.param({"X": np.where(DATA > 3, 0.0, DATA)}, id="other numbers"),
        pytest.param({"y": 1 - LABELS}, id="another target"),
        pytest.param({"sample_weight": np.linspace(1, 2, 300)}, id="weights"),
        pytest.param({"random_state": 1}, id="another seed"),
        pytest.param({"strategy": "joint"}, id="another strategy"),
        pytest.param({"mask_scale": 2.0}, id="another scale"),
        pytest.param({"dropout": 0.2}, id="another dropout"),
        pytest.param({"learning_rate": 2e-3}, id="another learning rate"),
        pytest.param({"batch_size": 64}, id="another batch size"),
        pytest.param({"standardize": "column"}, id="another standardization"),
        pytest.param({"loss": lambda output, target: output.square()}, id="another loss"),
        pytest.param({"class_weight": "balanced"}, id="class weights"),
        pytest.param({"early_stopping": True}, id="early stopping"),
        pytest.param({"dtype": "float64"}, id="another precision"),
    ],
)
def test_a_selector_refuses_the_checkpoint_of_another_fit(
    tmp_path: Path, other: dict[str, Any], kind: Any
) -> None:
    fit_selector(tmp_path, checkpoint=kind(tmp_path))
    with pytest.raises(CheckpointError, match="belongs to another fit"):
        fit_selector(tmp_path, checkpoint=kind(tmp_path), **other)


def test_what_does_not_change_the_fit_is_no_reason_to_refuse(tmp_path: Path) -> None:
    fit_selector(tmp_path)
    same_rows = np.asfortranarray(DATA)
    count = Count()
    again = fit_selector(
        tmp_path, X=same_rows, n_features_to_select=2, verbose=True, n_jobs=1, callbacks=[count]
    )
    assert count.epochs == 0
    assert len(again.history_) == 2


def test_a_selector_with_a_checkpoint_needs_a_seed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"checkpoint needs a random_state.*Pass an integer"):
        fit_selector(tmp_path, random_state=None)


def test_the_users_checkpoint_is_not_changed(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, identity={"mine": 1})
    fit_selector(tmp_path, checkpoint=checkpoint)
    assert checkpoint.identity == {"mine": 1}


def test_text_that_differs_between_processes_tells_no_fits_apart(tmp_path: Path) -> None:
    def loss(output: Tensor, target: Tensor) -> Tensor:
        return nn.functional.cross_entropy(output, target, reduction="none")

    first = loss
    fit_selector(tmp_path, loss=first)

    def loss(output: Tensor, target: Tensor) -> Tensor:  # another address
        return nn.functional.cross_entropy(output, target, reduction="none")

    count = Count()
    fit_selector(tmp_path, loss=loss, callbacks=[count])
    assert count.epochs == 0


def test_the_clock_of_a_fit_goes_on_where_it_stood(problem: Any, tmp_path: Path) -> None:
    class Slowly(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            time.sleep(0.05)

    broken_off(
        problem, 6, problem.model(), epochs=8, checkpoint=Checkpoint(tmp_path), callbacks=[Slowly()]
    )
    history = problem.fit(epochs=8, checkpoint=Checkpoint(tmp_path)).history
    seconds = [record["seconds"] for record in history]
    assert len(seconds) == 8
    assert seconds == sorted(seconds)
    assert seconds[-1] > 0.2
