import subprocess
import sys

import pytest

from featuremask.datasets import available, describe_all, fetch, load, where
from featuremask.exceptions import InputError


def test_public_sets_are_listed_before_built_in_ones():
    assert available() == [
        *("mnist", "fashion-mnist", "coil20", "isolet", "pcmac"),
        *("breast_cancer", "diabetes", "digits", "iris", "wine"),
    ]


@pytest.mark.parametrize("function", [load, fetch, where])
def test_an_unknown_name_gets_a_hint_and_the_known_ones(function):
    with pytest.raises(InputError, match=r"no dataset 'MNITS'; did you mean 'mnist'\?.* wine;"):
        function("MNITS")


def test_an_unknown_name_like_no_other_gets_no_hint():
    with pytest.raises(InputError, match="no dataset 'zzz'; known are mnist"):
        load("zzz")


def test_built_in_sets_have_no_files():
    assert fetch("digits") == []
    assert where("digits") == {}


def test_every_description_has_the_same_keys_and_says_origin_and_license():
    described = describe_all()
    assert len({tuple(entry) for entry in described}) == 1
    assert all(entry["origin"] and entry["license"] for entry in described)


def test_importing_datasets_imports_no_heavy_library():
    heavy = ["torch", "sklearn", "scipy", "pooch", "pyarrow", "rich", "narwhals", "pandas"]
    code = (
        "import sys, featuremask.datasets; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
