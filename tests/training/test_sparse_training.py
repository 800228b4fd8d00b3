"""Training on sparse data: the numbers of dense training, at the cost of what is stored."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from featuremask import FeatureMaskSelector
from featuremask.sources import ArraySource, SparseRows
from featuremask.training import Callback, TrainingState

N_ROWS, N_COLUMNS = 600, 400


def text() -> tuple[Any, NDArray[np.int64]]:
    """Rare words, five of which tell the class."""
    rng = np.random.default_rng(0)
    x = sparse.random(N_ROWS, N_COLUMNS, density=0.012, format="lil", random_state=rng)
    y = rng.integers(0, 2, N_ROWS)
    for word in range(5):
        rows = rng.choice(N_ROWS, 60, replace=False)
        x[rows, word] = 1.0 + 2.0 * y[rows]
    return x.tocsr(), y


def selector(**words: Any) -> FeatureMaskSelector:
    usual: dict[str, Any] = {"mask_units": 16, "hidden_units": (16,), "max_epochs": 4}
    return FeatureMaskSelector(5, random_state=0, dtype="float64", **(usual | words))


@pytest.mark.parametrize(
    "words",
    [{}, {"strategy": "joint"}, {"early_stopping": True, "strategy": "joint"}, {"must_keep": [9]}],
    ids=["narrowing", "joint", "validation", "must keep"],
)
def test_sparse_data_gives_the_scores_of_dense_data(words: dict[str, Any], gap: Any) -> None:
    x, y = text()
    ours = selector(**words).fit(x, y)
    theirs = selector(**words).fit(x.toarray(), y)
    assert gap(ours.scores_, theirs.scores_) < 1e-8
    assert ours.history_[-1]["loss"] == pytest.approx(theirs.history_[-1]["loss"], rel=1e-8)


def test_no_batch_is_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **words: Any) -> None:
        raise AssertionError("a batch was made dense")

    x, y = text()
    monkeypatch.setattr(SparseRows, "dense", refuse)
    dense = ArraySource.chunks

    def few(self: ArraySource, size: int, **words: Any) -> Any:
        assert size <= 2 or self.sparsely() is self
        return dense(self, size, **words)

    monkeypatch.setattr(ArraySource, "chunks", few)
    selector(strategy="joint").fit(x, y)


class _Layouts(Callback):
    def on_epoch_end(self, state: TrainingState) -> None:
        assert all(p.is_contiguous() for p in state.model.parameters())
        values = [v for s in state.optimizer.state.values() for v in s.values()]
        assert all(v.is_contiguous() for v in values)


class _Killed(Callback):
    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == 2:
            raise KeyboardInterrupt


def test_weights_are_seen_row_by_row_and_a_killed_fit_goes_on(tmp_path: Any) -> None:
    x, y = text()
    whole = selector(callbacks=[_Layouts()], checkpoint=tmp_path / "whole").fit(x, y)
    killed = selector(callbacks=[_Killed()], checkpoint=tmp_path / "part")
    with pytest.raises(KeyboardInterrupt):
        killed.fit(x, y)
    resumed = selector(checkpoint=tmp_path / "part").fit(x, y)
    assert np.array_equal(whole.scores_, resumed.scores_)


def test_without_a_target_rows_are_the_target_and_dense() -> None:
    x, _ = text()
    ours, theirs = selector().fit(x), selector().fit(x.toarray())
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-8)
