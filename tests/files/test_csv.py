"""CSV files: columns get types by rules, and cells are copied as they are."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from featuremask.exceptions import FileFormatError, InputError
from featuremask.files import Data, Picks, read_files, reduce_files
from featuremask.tables import Table

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def table_of(data: Data) -> Table:
    assert isinstance(data.X, Table)
    return data.X


def family(write: Write, *cells: str) -> str:
    return table_of(read_files([write("\n".join(["column,other", *(f"{c},1" for c in cells)]))]))[
        "column"
    ].family


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "+3"], "number"),
        (["1.5", ".5", "2e-3", "7"], "number"),
        (["1", "", "NA"], "number"),
        (["true", "FALSE", ""], "boolean"),
        (["2024-02-29", "2024/03/01"], "date"),
        (["2024-01-05 10:30", "2024-01-05T10:30:01.5"], "date"),
        (["2024-01-05T10:30Z", "2024-01-05T10:30+02:00"], "date"),
        (["2023-02-29", "2024-01-01"], "category"),  # no such day
        (["01234", "99999"], "category"),  # postal codes
        (["1_000", "2"], "category"),
        (["1,5", "2"], "category"),
        (["31.12.2024", "01.01.2025"], "category"),
        (["", "NaN", "null"], "empty"),
        (["yes", "no"], "category"),
    ],
)
def test_a_column_has_the_narrowest_type_that_fits_all_cells(
    write: Write, cells: list[str], expected: str
) -> None:
    assert family(write, *(f'"{cell}"' for cell in cells)) == expected


def test_whole_numbers_stay_whole_unless_there_are_gaps(write: Write) -> None:
    table = table_of(read_files([write("a,b\n1,1\n2,\n")]))
    assert table["a"].values.dtype == np.int64
    assert table["b"].values.tolist()[0] == 1.0
    assert table["b"].gaps.tolist() == [False, True]


def test_odd_names_are_kept_as_they_are(write: Write) -> None:
    names = ['a "quoted", name', "=1+1", "</script>", "naïve ☂", " blank ", ""]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert read_files([write(f"{header}\n1,2,3,4,5,6\n")]).names == tuple(names)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_splits_the_header(write: Write, delimiter: str) -> None:
    path = write(f"a{delimiter}b\n1{delimiter}2\n")
    assert read_files([path]).names == ("a", "b")


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_data(write: Write) -> None:
    table = table_of(read_files([write("\ufeffa,b\r\n1,x\r\n2,y\r\n")]))
    assert table.names == ("a", "b")
    assert table["b"].values.tolist() == ["x", "y"]


def test_gzipped_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_files([tmp_path / "a.csv.gz"]).names == ("a", "b")


def test_rows_of_many_portions_keep_their_order(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featuremask.files._csv._ROWS_AT_ONCE", 3)
    table = table_of(read_files([write("a,b\n" + "".join(f"{i},t{i % 2}\n" for i in range(10)))]))
    assert table["a"].values.tolist() == list(range(10))
    assert table["b"].values.tolist() == [f"t{i % 2}" for i in range(10)]


def test_files_of_a_folder_follow_each_other(write: Write, tmp_path: Path) -> None:
    write("a,b\n3,1\n", "2.csv")
    write("a,b\n1,1\n2,1\n", "1.csv")
    write("not a table", "notes.md")
    for given in (tmp_path, tmp_path / "*.csv"):
        assert table_of(read_files([given]))["a"].values.tolist() == [1, 2, 3]


def test_what_is_put_aside_and_dropped_is_no_feature(write: Write) -> None:
    data = read_files([write("id,y,raw_1,raw_2,b\n7,1,0,0,2\n")], ["y"], ["raw_*", "id"])
    assert data.names == ("b",)
    assert data.aside["y"].values.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "has a header and no rows"),
        ("a,b\n1,2\n1,2,3\n", "row 2 below the header has 3 cells, the header has 2"),
        ("a,a\n1,2\n", r"several columns called \['a'\]"),
        ('a,b\n"1,2\n', "cannot be read as CSV"),
    ],
)
def test_a_broken_file_is_told_with_its_place(write: Write, text: str, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        read_files([write(text)])


def test_a_file_of_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(FileFormatError, match="must be text in UTF-8"):
        read_files([tmp_path / "a.csv"])


def test_files_of_one_table_have_one_header(write: Write) -> None:
    with pytest.raises(FileFormatError, match="must have the same columns in the same order"):
        read_files([write("a,b\n1,2\n", "1.csv"), write("b,a\n1,2\n", "2.csv")])


def test_unknown_columns_and_endings_are_told(write: Write, tmp_path: Path) -> None:
    path = write("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"unknown column 'y'; it has \['a', 'b'\]"):
        read_files([path], ["y"])
    with pytest.raises(InputError, match=r"'.*table\.xls' ends with '\.xls'"):
        read_files([write("", "table.xls")])
    with pytest.raises(InputError, match="is no file"):
        read_files([tmp_path / "missing.csv"])
    with pytest.raises(InputError, match="all files must be of one kind"):
        read_files([path, write("a\tb\n", "b.tsv")])


def test_cells_are_copied_as_they_are(write: Write, tmp_path: Path) -> None:
    path = write('a;b;"=c";d\n007;1.10;"x;y";\n 8 ;NA;"";"q""q"\n')
    out = tmp_path / "out.csv"
    assert reduce_files([path], out, Picks((0, 2), 3, ("a", "=c"), also=("d",))) == 2
    assert out.read_text() == 'a;=c;d\n007;"x;y";\n 8 ;;"q""q"\n'


def test_columns_go_by_position_where_the_selector_knows_no_names(
    write: Write, tmp_path: Path
) -> None:
    path = write("y,a,b\n0,1,2\n")
    reduce_files([path], tmp_path / "out.csv", Picks((1,), 2, also=("y",)))
    assert (tmp_path / "out.csv").read_text() == "y,b\n0,2\n"
    with pytest.raises(InputError, match="must have the 4 columns"):
        reduce_files([path], tmp_path / "out.csv", Picks((1,), 4))


def test_a_failure_leaves_no_half_written_file(write: Write, tmp_path: Path) -> None:
    path = write("a,b\n" + "1,2\n" * 30_000 + "1\n")
    with pytest.raises(FileFormatError, match="row 30001"):
        reduce_files([path], tmp_path / "out.csv", Picks((0,), 2, ("a",)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.csv"]


def test_the_file_to_write_is_of_the_kind_that_is_read(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"of the kind that is read, \.csv; got 'out\.npz'"):
        reduce_files([write("a,b\n1,2\n")], tmp_path / "out.npz", Picks((0,), 2, ("a",)))
