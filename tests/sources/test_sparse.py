"""Sparse rows are multiplied as they are stored, and give the numbers of dense ones."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from featuremask.exceptions import InputError
from featuremask.sources import ArraySource, SparseRows, column_moments

N_ROWS, N_COLUMNS = 50, 120
CPU = torch.device("cpu")


def matrix() -> Any:
    """A sparse matrix with a nearly empty row, an empty column and a column that is all ones."""
    rng = np.random.default_rng(0)
    x = sparse.random(N_ROWS, N_COLUMNS, density=0.01, format="lil", random_state=rng)
    x[:, 5], x[3], x[:, 7] = 0.0, 0.0, 1.0
    x = x.tocsr()
    x.eliminate_zeros()
    return x


def rows_of(x: Any, **words: Any) -> tuple[SparseRows, Tensor]:
    """The whole matrix as sparse rows and as a dense tensor."""
    source = ArraySource(x, **words)
    found = source.sparsely()
    assert found is not None
    ours, theirs = (
        next(each.chunks(source.n_rows, device=CPU, dtype=torch.float64)).x
        for each in (found, source)
    )
    assert isinstance(ours, SparseRows)
    return ours, theirs


def test_a_source_gives_the_same_rows_sparsely_and_densely() -> None:
    columns, index = np.array([1, 5, 8, 100]), np.array([4, 3, 30])
    for words in ({}, {"columns": columns}, {"rows": index}, {"columns": columns, "rows": index}):
        found, wanted = rows_of(matrix(), **words)
        assert torch.equal(found.dense(), wanted)
        assert found.shape == wanted.shape


def test_dense_layers_and_their_gradients_are_those_of_dense_rows(gap: Any) -> None:
    found, wanted = rows_of(matrix())
    generator = torch.Generator().manual_seed(0)
    shift, inverse = torch.rand(2, N_COLUMNS, generator=generator, dtype=torch.float64)
    upstream = torch.rand(N_ROWS, 6, generator=generator, dtype=torch.float64)
    results = []
    for rows in (found.standardized(inverse, shift), wanted * inverse + shift):
        layer = nn.Linear(N_COLUMNS, 6).double()
        with torch.no_grad():
            layer.weight.copy_(torch.linspace(-1, 1, layer.weight.numel()).view_as(layer.weight))
            layer.bias.fill_(0.5)
        multiplier = torch.linspace(0, 1, N_COLUMNS, dtype=torch.float64, requires_grad=True)
        output = layer(rows * multiplier)
        output.backward(upstream)
        results.append((output, layer.weight.grad, layer.bias.grad, multiplier.grad))
    for ours, theirs in zip(*results, strict=True):
        assert gap(ours, theirs) < 1e-12


def test_a_bound_is_that_of_dense_rows(gap: Any) -> None:
    found, wanted = rows_of(matrix())
    generator = torch.Generator().manual_seed(0)
    shift, inverse = torch.randn(2, N_COLUMNS, generator=generator, dtype=torch.float64)
    bounded = (wanted * inverse + shift).clamp(-0.5, 0.5)
    assert not torch.equal(bounded, wanted * inverse + shift)
    rows = found.standardized(inverse, shift, 0.5)
    assert gap(rows.dense(), bounded) < 1e-12
    assert rows.values.numel() == found.values.numel()


def test_entries_that_are_stored_twice_are_added() -> None:
    offsets = np.r_[0, 2, np.full(N_ROWS - 1, 3)]
    parts = (np.array([1.0, 2.0, 4.0]), np.array([2, 2, 0]), offsets)
    x = sparse.csr_matrix(parts, (N_ROWS, N_COLUMNS))
    found, wanted = rows_of(x)
    assert found.values.tolist() == [3.0, 4.0]
    assert torch.equal(found.dense(), wanted)
    assert x.nnz == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_the_moments_of_columns_are_those_of_dense_rows(weighted: bool) -> None:
    x = matrix()
    weight = np.random.default_rng(1).random(N_ROWS) if weighted else None
    ours = column_moments(ArraySource(x, sample_weight=weight))
    theirs = column_moments(ArraySource(x.toarray(), sample_weight=weight))
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-12)
    np.testing.assert_allclose(ours.variance, theirs.variance, atol=1e-12)
    assert ours.constant.tolist() == theirs.constant.tolist()
    assert ours.constant[[5, 7]].all()
    assert not ours.constant.all()


def test_data_with_many_stored_entries_is_taken_densely() -> None:
    assert ArraySource(sparse.csr_matrix(np.eye(20))).sparsely() is None
    assert ArraySource(np.eye(200)).sparsely() is None


def test_what_is_no_dense_layer_is_refused() -> None:
    found, _ = rows_of(matrix())
    with pytest.raises(InputError, match="dense layer first; got relu"):
        functional.relu(found)
    with pytest.raises(InputError, match="dim=1"):
        found.index_select(0, torch.tensor([0]))
