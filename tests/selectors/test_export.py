"""What was trained leaves Python through PyTorch's own exporters, the mask included."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import featuremask
from featuremask import FeatureMask, FeatureMaskSelector

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),  # PyTorch's exporter, of itself
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
ROWS = torch.from_numpy(X)
FREE = ({0: torch.export.Dim("rows")},)

METHODS = ["FeatureMask", "AFS", "Concrete", "CancelOut", "BSF", "DFS", "FSDNN"]


def fitted(name: str, **words: Any) -> Any:
    words = {"n_features_to_select": 2, "max_epochs": 2, "random_state": 0, **words}
    return getattr(featuremask, f"{name}Selector")(**words).fit(X, Y)


@pytest.mark.parametrize("name", METHODS)
def test_the_network_of_every_method_is_exported_for_any_number_of_rows(
    name: str, tmp_path: Path
) -> None:
    network = fitted(name, **({"max_tries": 1} if name == "Concrete" else {})).network_
    program = torch.export.export(network, (ROWS,), dynamic_shapes=FREE)
    torch.export.save(program, tmp_path / "network.pt2")
    again = torch.export.load(tmp_path / "network.pt2").module()
    torch.testing.assert_close(again(ROWS[:7]), network(ROWS[:7]))


def test_a_frozen_gate_is_exported_alone() -> None:
    gate = FeatureMask(6)
    gate.freeze_from([ROWS[:20], ROWS[20:]])
    again = torch.export.export(gate.eval(), (ROWS,), dynamic_shapes=FREE).module()
    torch.testing.assert_close(again(ROWS[:5]), gate(ROWS[:5]))


@pytest.mark.parametrize("strategy", ["narrowing", "joint", "sequential"])
def test_the_network_is_written_to_onnx(strategy: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="pip install 'featuremask[onnx]' to run this")
    from onnx.reference import ReferenceEvaluator

    selector: FeatureMaskSelector = fitted("FeatureMask", strategy=strategy)
    path = tmp_path / "network.onnx"
    words: dict[str, Any] = {"dynamo": True, "verbose": False, "dynamic_shapes": FREE}
    torch.onnx.export(selector.network_, (ROWS,), str(path), **words)
    model = ReferenceEvaluator(str(path))
    (output,) = model.run(None, {model.input_names[0]: X[:7]})
    np.testing.assert_allclose(output, selector.network_(ROWS[:7]).detach().numpy(), atol=1e-5)
