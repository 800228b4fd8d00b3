"""How the arguments of a layer become masked axes and entries."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from featuremask.exceptions import InputError
from featuremask.gates._layout import Layout, entries_of


def test_a_number_masks_the_last_axis() -> None:
    assert Layout.of(5, None) == Layout((5,), (-1,))


def test_sizes_mask_as_many_last_axes() -> None:
    assert Layout.of((3, 4), None) == Layout((3, 4), (-2, -1))
    assert Layout.of((3, 4), None).size == 12


def test_axes_keep_the_order_they_are_named_in() -> None:
    assert Layout.of((4, 3), (3, 1)) == Layout((4, 3), (3, 1))


def test_plain_rows_pass_uncopied() -> None:
    x, weight = torch.rand(3, 5), torch.rand(3)
    rows, row_weight = Layout.of(5, None).rows(x, weight)
    assert rows is x
    assert row_weight is weight


def test_rows_come_sample_by_sample_with_the_weight_of_their_sample() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    rows, weight = Layout.of(4, None).rows(x, torch.tensor([5.0, 7.0]))
    assert torch.equal(rows, x.reshape(6, 4))
    assert weight.tolist() == [5.0, 5.0, 5.0, 7.0, 7.0, 7.0]


def test_no_weights_stay_no_weights() -> None:
    assert Layout.of(4, None).rows(torch.rand(2, 3, 4), None)[1] is None


@given(
    sizes=st.lists(st.integers(1, 3), min_size=2, max_size=5),
    data=st.data(),
)
def test_multiplying_by_rows_inverts_the_reading_of_rows(
    sizes: list[int], data: st.DataObject
) -> None:
    axes = data.draw(st.lists(st.integers(1, len(sizes) - 1), min_size=1, unique=True))
    signs = data.draw(st.lists(st.booleans(), min_size=len(axes), max_size=len(axes)))
    dims = tuple(a - len(sizes) if s else a for a, s in zip(axes, signs, strict=True))
    layout = Layout.of(tuple(sizes[axis] for axis in axes), dims)
    x = torch.rand(sizes)
    rows, _ = layout.rows(x, None)
    assert rows.shape == (x.numel() // layout.size, layout.size)
    assert torch.equal(layout.multiply(torch.ones_like(x), rows), x)
    one_for_all = layout.multiply(x, rows[0])
    assert torch.equal(layout.rows(one_for_all, None)[0], rows * rows[0])


@given(labels=st.lists(st.sampled_from([None, 0, 1, "a", "b", (1, 2)]), min_size=1, max_size=12))
def test_entries_are_numbered_by_first_appearance(labels: list[object]) -> None:
    entries, n_entries = entries_of(labels, len(labels))
    names = list(dict.fromkeys(labels))
    assert entries.tolist() == [names.index(label) for label in labels]
    assert n_entries == len(names)


def test_without_groups_each_feature_is_an_entry() -> None:
    assert entries_of(None, 7) == (None, 7)


@pytest.mark.parametrize("labels", ["ab", "abcd", ""])
def test_each_feature_needs_a_label(labels: str) -> None:
    with pytest.raises(InputError, match=f"the 3 features; got {len(labels)} labels"):
        entries_of(labels, 3)
