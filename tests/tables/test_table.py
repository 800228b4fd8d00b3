"""A table in plain memory means to a selector what a data frame means."""

import numpy as np
import polars as pl
import pytest
from sklearn.utils import _safe_indexing

from featuremask import FeatureMaskSelector, load
from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables import Column, Table, TableEncoder, fit_table


def test_a_table_gets_the_codes_of_the_frame_it_was_read_from(every_family: pl.DataFrame) -> None:
    encoder = TableEncoder(missing="auto", categorical="auto", dates="auto")
    table = Table.of(every_family)
    of_frame, of_table = fit_table(every_family, encoder), fit_table(table, encoder)
    assert of_table == of_frame
    assert np.array_equal(of_table.encode(table), of_frame.encode(every_family))
    assert np.array_equal(of_frame.encode(table), of_frame.encode(every_family))


def test_rows_and_columns_are_taken(every_family: pl.DataFrame) -> None:
    rows = np.array([5, 0, 5])
    taken = Table.of(every_family).take(rows).select(["date", "city"])
    again = Table.of(every_family[rows.tolist()][["date", "city"]])
    assert taken.shape == (3, 2)
    for name in taken.names:
        assert taken[name].gaps.tolist() == again[name].gaps.tolist()
        assert np.array_equal(
            taken[name].values[~taken[name].gaps], again[name].values[~again[name].gaps]
        )


def test_scikit_learn_takes_rows_of_it(every_family: pl.DataFrame) -> None:
    table = Table.of(every_family)
    rows = np.array([3, 1])
    mask = np.zeros(len(table), dtype=bool)
    mask[rows] = True
    assert _safe_indexing(table, rows)["whole"].values.tolist() == [
        every_family["whole"][3],
        every_family["whole"][1],
    ]
    assert _safe_indexing(table, mask).shape == (2, table.shape[1])


def test_two_columns_of_one_name_are_an_error() -> None:
    column = Column("number", np.zeros(2), np.zeros(2, dtype=bool))
    with pytest.raises(InputError, match="must be unique, got 'a' more than once"):
        Table(("a", "a"), (column, column), 2)


def test_lists_are_no_columns() -> None:
    with pytest.raises(InputTypeError, match=r"got lists.*'c'"):
        Table.of(pl.DataFrame({"c": [[1], [2]]}))


def test_a_selector_takes_a_table_and_gives_one(tmp_path: object) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(120, 4)), schema=list("abcd"))
    y = (frame["b"] > 0).to_numpy()
    table = Table.of(frame)
    selector = FeatureMaskSelector(1, random_state=0, max_epochs=60).fit(table, y)
    assert selector.selected_names_.tolist() == ["b"]
    assert selector.transform(table).names == ("b",)
    selector.save(f"{tmp_path}/s.fm")
    again = load(f"{tmp_path}/s.fm")
    assert again.transform(frame).columns == ["b"]
    with pytest.raises(InputError, match="feature names should match"):
        again.transform(table.select(["a", "b"]))
