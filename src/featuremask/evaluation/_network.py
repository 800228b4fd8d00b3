"""The paper's learning network as a downstream classifier; loads PyTorch when it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

    from featuremask.networks import GatedNetwork
    from featuremask.training import TrainingOptions

__all__ = ["NetworkClassifier"]

_HIDDEN_UNITS = (128, 64)
_DROPOUT = 0.3
_BATCH_SIZE = 256
_EPOCHS = 20
_LEAST_STEPS = 2000
_CHUNK_ROWS = 8192


class NetworkClassifier:
    """Two dense layers of 128 and 64 units, LeakyReLU, dropout 0.3, Adam, batches of 256.

    It is trained for 20 passes over the rows, but for at least 2,000 updates.

    Parameters
    ----------
    seed : int
        Of the initial weights, the order of rows and dropout.
    threads : int
        PyTorch's threads while training.
    """

    def __init__(self, seed: int, threads: int = 1) -> None:
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Train on rows and their classes."""
        import torch

        from featuremask.objectives import Classes
        from featuremask.sources import ArraySource
        from featuremask.training import fit_network

        self.classes_, codes = np.unique(y, return_inverse=True)
        self._model = _gated_network(X.shape[1], len(self.classes_), self.seed)
        fit_network(
            self._model,
            Classes(len(self.classes_)),
            ArraySource(X, torch.from_numpy(codes.astype(np.int64))),
            _options(X.shape[0], self.seed, self.threads),
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of highest output for each row."""
        import torch

        from featuremask.sources import ArraySource

        place = torch.device("cpu")
        chunks = ArraySource(X).chunks(_CHUNK_ROWS, device=place, dtype=torch.float32)
        with torch.no_grad():
            codes = [self._codes(chunk.x).numpy() for chunk in chunks]
        return np.asarray(self.classes_[np.concatenate(codes)])

    def _codes(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self._model(x)
        return output.argmax(1)


def _gated_network(n_columns: int, n_classes: int, seed: int) -> GatedNetwork:
    """Return the network with its first weights, behind a gate that lets everything pass."""
    import torch

    from featuremask.gates import AllFeaturesGate
    from featuremask.networks import GatedNetwork, mlp

    generator = torch.Generator().manual_seed(seed)
    network = mlp(n_columns, _HIDDEN_UNITS, n_classes, dropout=_DROPOUT, generator=generator)
    return GatedNetwork(AllFeaturesGate(n_columns), network)


def _options(n_rows: int, seed: int, threads: int) -> TrainingOptions:
    from featuremask.training import TrainingOptions

    batch_size = min(_BATCH_SIZE, n_rows)
    steps = max(_LEAST_STEPS, _EPOCHS * -(-n_rows // batch_size))
    return TrainingOptions(steps=steps, batch_size=batch_size, seed=seed, threads=threads)
