import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featuremask.datasets import DatasetError
from featuremask.datasets._spec import read_spec
from featuremask.exceptions import FeatureMaskError, FileFormatError, InputError

LEAST = 'name = "own"\npath = "own.csv"\ntarget = "y"\n'


@pytest.fixture
def toml(tmp_path):
    """Write a TOML file and read it."""

    def read(text):
        (tmp_path / "own.toml").write_text(text)
        return read_spec(tmp_path / "own.toml")

    return read


def test_the_least_that_must_be_said_gets_the_common_recipe(toml, tmp_path):
    spec = toml(LEAST)
    assert (spec.name, spec.target, spec.format) == ("own", "y", "csv")
    assert (spec.test_size, spec.random_state, spec.stratify) == (0.2, 0, True)
    assert spec.path == tmp_path / "own.csv"


def test_all_that_can_be_said_is_taken_over(toml):
    spec = toml(
        """
        name = "own"
        path = "deep/own.npz"
        target = "labels"
        features = "rows"
        task = "regression"
        drop = ["id"]
        sha256 = "%s"
        max_gigabytes = 1
        image_shape = [2, 3]
        description = "what"
        origin = "where"
        license = "how"
        [split]
        test_size = 0.5
        random_state = 3
        stratify = false
        """
        % ("a" * 64)
    )
    assert (spec.features, spec.target, spec.task) == ("rows", "labels", "regression")
    assert (spec.drop, spec.image_shape, spec.max_bytes) == (("id",), (2, 3), 2**30)
    assert (spec.description, spec.origin, spec.license) == ("what", "where", "how")
    assert (spec.test_size, spec.random_state, spec.stratify) == (0.5, 3, False)


def test_a_relative_path_starts_at_the_toml_file(toml, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    assert toml(LEAST).path == tmp_path / "own.csv"


def test_an_absolute_path_stays(toml):
    assert str(toml(LEAST.replace("own.csv", "/data/own.csv")).path) == "/data/own.csv"


@pytest.mark.parametrize(("ending", "target"), [("npz", "y"), ("mat", "Y")])
def test_arrays_have_their_usual_names(toml, ending, target):
    spec = toml(f'name = "own"\npath = "own.{ending}"')
    assert (spec.features, spec.target) == ("X", target)


def test_a_table_needs_a_target(toml):
    with pytest.raises(InputError, match="must say which column is the target"):
        toml('name = "own"\npath = "own.csv"')


@pytest.mark.parametrize("key", ["name", "path"])
def test_name_and_path_must_be_said(toml, key):
    lines = [line for line in LEAST.splitlines() if not line.startswith(key)]
    with pytest.raises(InputError, match=f"must say '{key}'; add a line {key} ="):
        toml("\n".join(lines))


def test_unknown_keys_are_refused_with_the_known_ones(toml):
    with pytest.raises(InputError, match=r"unknown keys \['targets'\]; the keys are .*'target'"):
        toml(LEAST + 'targets = "y"')


def test_unknown_keys_of_the_split_are_refused(toml):
    with pytest.raises(InputError, match=r"\[split\] has unknown keys \['seed'\].*'random_state'"):
        toml(LEAST + "[split]\nseed = 1")


@pytest.mark.parametrize("key", ["toml_path", "test_size", "stratify"])
def test_keys_of_another_table_are_unknown(toml, key):
    with pytest.raises(InputError, match="unknown keys"):
        toml(LEAST + f"{key} = 1")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("sha256 = 5", "sha256 must be a str; got 5"),
        ("max_gigabytes = true", "max_gigabytes must be a float or int; got True"),
        ("drop = 'id'", "drop must be a list"),
        ("split = 3", "split must be a dict"),
        ("[split]\nstratify = 1", "stratify must be a bool; got 1"),
        ("task = 'clustering'", "task must be classification or regression; got 'clustering'"),
        ("sha256 = 'abc'", "sha256 must be 64 hexadecimal digits"),
        ("max_gigabytes = 0", "max_gigabytes must be a number above 0"),
        ("max_gigabytes = nan", "max_gigabytes must be a number above 0"),
        ("drop = [1]", "drop must be a list of column names"),
        ("image_shape = [2]", "image_shape must be two whole numbers above 0"),
        ("image_shape = [2, 0]", "image_shape must be two whole numbers above 0"),
        ("[split]\ntest_size = 1.0", "test_size must be a number between 0 and 1; got 1.0"),
        ("[split]\nrandom_state = -1", "random_state must be a whole number from 0"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_with_the_rule(toml, line, rule):
    with pytest.raises(InputError, match=rule):
        toml(LEAST + line)


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a/b", ".a", "-a", "a" * 65, "é"])
def test_a_name_is_safe_as_a_file_name(toml, name):
    with pytest.raises(InputError, match="name must be 1 to 64 of a-z"):
        toml(LEAST.replace('"own"', f'"{name}"'))


@pytest.mark.parametrize("path", ["own.xls", "own", "own.csv.gz", "own.pkl"])
def test_only_known_endings_are_read(toml, path):
    with pytest.raises(InputError, match=r"path must be a file that ends with one of \['.csv'"):
        toml(LEAST.replace("own.csv", path))


def test_a_file_that_is_not_toml_is_refused(toml):
    with pytest.raises(FileFormatError, match="is not valid TOML"):
        toml("name = ")


def test_a_file_that_is_too_long_is_refused(toml):
    with pytest.raises(FileFormatError, match="has at most 1048576"):
        toml("#" * (1 << 20) + LEAST)


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DatasetError, match=r"there is no file .*gone\.toml"):
        read_spec(tmp_path / "gone.toml")


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=80))
def test_no_bytes_raise_anything_but_our_errors(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("spec") / "own.toml"
    path.write_bytes(content)
    with contextlib.suppress(FeatureMaskError):
        assert read_spec(path).name
