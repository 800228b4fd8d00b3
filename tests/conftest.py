"""What every test runs under: one thread, a seed, and no lasting change of global settings."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from hypothesis import settings
from numpy.typing import NDArray

torch.set_num_threads(1)

settings.register_profile("tests", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("tests")

_PAPER_DATA = os.environ.get("FEATUREMASK_DATA")


@pytest.fixture(autouse=True)
def seed() -> int:
    """The seed of PyTorch's global generator; FEATUREMASK_TEST_SEED sweeps it."""
    seed = int(os.environ.get("FEATUREMASK_TEST_SEED", "0"))
    torch.manual_seed(seed)
    return seed


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    """Fail a test that leaves a global setting changed."""
    yield
    assert torch.get_default_dtype() == torch.float32
    assert torch.get_num_threads() == 1
    assert torch.is_grad_enabled()


@pytest.fixture(scope="session")
def missing() -> Callable[[str, str], NoReturn]:
    """A function of what a test needs and why it is not there: it skips the test, or fails it.

    It fails where all must be there: where CI is "true", or FEATUREMASK_REQUIRE_DATA or
    FEATUREMASK_REQUIRE_BROWSER is "1".
    """

    def missing(what: str, reason: str) -> NoReturn:
        required = f"FEATUREMASK_REQUIRE_{what.upper()}"
        if os.environ.get("CI") == "true" or os.environ.get(required) == "1":
            pytest.fail(reason)
        pytest.skip(reason)

    return missing


@pytest.fixture(scope="session")
def paper_data(missing: Callable[[str, str], NoReturn]) -> Path:
    """The folder of the paper's data."""
    if not _PAPER_DATA:
        missing("data", "set FEATUREMASK_DATA to the folder of the paper's data to run this")
    return Path(_PAPER_DATA)


# ---- skips are counted --------------------------------------------------------------------------


def _skipped(config: pytest.Config) -> int:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    return 0 if terminal is None else len(terminal.stats.get("skipped", []))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if more tests were skipped than FEATUREMASK_MOST_SKIPS allows."""
    most = os.environ.get("FEATUREMASK_MOST_SKIPS")
    if most is not None and _skipped(session.config) > int(most):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print how many tests were skipped, and how many may be."""
    most = os.environ.get("FEATUREMASK_MOST_SKIPS")
    if most is not None:
        count = _skipped(config)
        verdict = "too many" if count > int(most) else "allowed"
        terminalreporter.write_line(
            f"skipped: {count}; FEATUREMASK_MOST_SKIPS={most}: {verdict}",
            red=count > int(most),
        )


@pytest.fixture(scope="session")
def gap() -> Callable[[Any, Any], float]:
    """A function: the largest difference of two arrays, relative to the largest expected value."""

    def array(values: Any) -> NDArray[np.float64]:
        values = values.detach() if isinstance(values, torch.Tensor) else values
        return np.asarray(values, dtype=np.float64)

    def gap(found: Any, expected: Any) -> float:
        found, expected = array(found), array(expected)
        assert found.shape == expected.shape
        return float(np.abs(found - expected).max() / np.abs(expected).max())

    return gap


@pytest.fixture
def untouched_generators() -> Iterator[None]:
    """Fail a test that draws from, or seeds, a global generator."""

    def states() -> list[Any]:
        kind, keys, *rest = np.random.get_state()  # noqa: NPY002  # the global one is looked at
        return [torch.get_rng_state().tolist(), random.getstate(), kind, keys.tolist(), rest]

    before = states()
    yield
    assert states() == before
