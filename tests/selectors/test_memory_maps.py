"""Memory maps are read no further than they need to be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError


@pytest.fixture
def mapped(tmp_path: Path) -> tuple[Any, NDArray[np.int64]]:
    path = tmp_path / "rows.npy"
    rng = np.random.default_rng(0)
    np.save(path, rng.normal(size=(100, 6)).astype(np.float32))
    return np.load(path, mmap_mode="r+"), rng.integers(0, 2, 100)


def test_transform_gives_the_selected_columns_whatever_the_others_hold(mapped: Any) -> None:
    x, y = mapped
    selector = FeatureMaskSelector(2, max_epochs=2, random_state=0).fit(x, y)
    wanted = np.array(x)[:, selector.support_]
    x[:, ~selector.support_] = np.nan
    found = selector.transform(x)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, wanted)
    x[3, np.flatnonzero(selector.support_)[0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        selector.transform(x)


def test_a_memory_map_of_other_width_is_refused(mapped: Any) -> None:
    x, y = mapped
    selector = FeatureMaskSelector(2, max_epochs=2, random_state=0).fit(x, y)
    with pytest.raises(ValueError, match="6 features"):
        selector.transform(x[:, :4])


@pytest.mark.slow
def test_products_in_bfloat16_find_what_float32_finds() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 30)).astype(np.float32)
    y = (x[:, 3] + x[:, 7] - x[:, 11] > 0).astype(int)
    found = {}
    for dtype in ("float32", "bfloat16"):
        selector = FeatureMaskSelector(3, random_state=0, dtype=dtype).fit(x, y)
        found[dtype] = set(np.flatnonzero(selector.support_))
        assert {str(p.dtype) for p in selector.network_.parameters()} == {"torch.float32"}
    assert found["float32"] == found["bfloat16"] == {3, 7, 11}
    with pytest.raises(InputError, match="bfloat16"):
        FeatureMaskSelector(3, dtype="float16").fit(x, y)
