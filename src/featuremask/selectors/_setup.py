"""The gate, network and standardization of a fit, before training."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import Gate
from featuremask.networks import GatedNetwork, Standardize, mirrored
from featuremask.selectors._data import Rows, standardization
from featuremask.selectors._rules import Budget, budget_for, threads_for
from featuremask.selectors._specs import GateSpec, NetworkSpec, Seeds
from featuremask.training import TrainingOptions, out_of_memory_told

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["Setup", "set_up", "training_options"]


@dataclass(frozen=True)
class Setup:
    """What is trained, and the plain values it was made from."""

    model: GatedNetwork
    standardize: Standardize
    gate_spec: GateSpec
    network_spec: NetworkSpec | None
    budget: Budget


def set_up(selector: BaseSelector, rows: Rows, seeds: Seeds, *, streamed: bool = False) -> Setup:
    """Make the gate and the learning network with their first weights, and try them on two rows."""
    budget = budget_for(rows.effective_rows)
    dtype = selector._torch_dtype()
    gate_spec = _gate_spec(selector, rows, seeds, streamed)
    first_layer = gate_spec.n_features * max(selector.hidden_units, default=0)
    with out_of_memory_told(rows.source, budget.batch_size, first_layer):
        gate = selector._make_gate(gate_spec)
        network, network_spec = _network(selector, rows, gate, budget, seeds)
        model = GatedNetwork(gate, network).to(dtype)
    if selector.warm_start and hasattr(selector, "network_"):
        _continue_from(selector.network_[1], model)
    how = selector._standardize_rule(rows.target.objective.kind)
    rebuilds = rows.target.objective.kind == "reconstruction"
    columns = rows.column_of if rebuilds else None
    standardize = standardization(rows.moments, how, dtype, rows.picked, columns)
    _check_output(model, standardize, rows)
    return Setup(model, standardize, gate_spec, network_spec, budget)


def _gate_spec(selector: BaseSelector, rows: Rows, seeds: Seeds, streamed: bool) -> GateSpec:
    groups = rows.groups[rows.column_of]
    present, compact = np.unique(groups, return_inverse=True)
    grouped = len(present) < len(groups)
    n_select = selector._count(int(rows.groups.max()) + 1)
    n_kept = len(np.unique(rows.groups[rows.kept]))
    if n_kept > n_select:
        raise InputError(
            f"must_keep counts toward n_features_to_select; got {n_kept} columns or groups to keep "
            f"and {n_select} to select. Select more, or keep fewer."
        )
    return GateSpec(
        n_features=len(rows.column_of),
        groups=compact.tolist() if grouped else None,
        kept=np.flatnonzero(np.isin(rows.column_of, rows.kept)).tolist(),
        n_select=n_select,
        seed=seeds.gate,
        streamed=streamed,
    )


def _network(
    selector: BaseSelector, rows: Rows, gate: Gate, budget: Budget, seeds: Seeds
) -> tuple[nn.Module, NetworkSpec | None]:
    objective = rows.target.objective
    n_outputs = len(rows.column_of) if objective.kind == "reconstruction" else objective.n_outputs
    given = selector.network
    if given is None:
        hidden = tuple(int(units) for units in selector.hidden_units)
        autoencodes = objective.kind == "reconstruction"
        spec = NetworkSpec(
            n_inputs=gate.out_features,
            hidden_units=list(mirrored(hidden) if autoencodes else hidden),
            n_outputs=n_outputs,
            dropout=selector._dropout_rate(budget, autoencodes),
            seed=seeds.network,
        )
        return spec.build(), spec
    if isinstance(given, nn.Module):
        return copy.deepcopy(given), None
    if not callable(given):
        raise InputError(
            "network must be None, a module, or a function of (n_inputs, n_outputs) that returns "
            f"one; got {given!r}."
        )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seeds.network)
        network = given(gate.out_features, n_outputs)
    if not isinstance(network, nn.Module):
        raise InputError(f"The function network must return an nn.Module; got {network!r}.")
    return network, None


@torch.no_grad()
def _continue_from(old: nn.Module, model: GatedNetwork) -> None:
    """Copy the weights of the last fit; what a gate has scheduled or stored starts anew."""
    before = dict(old.named_parameters())
    for name, parameter in model.named_parameters():
        if name not in before or before[name].shape != parameter.shape:
            raise InputError(
                "warm_start goes on from a fit with the same columns, target and networks; "
                f"the parameter {name!r} differs. Set warm_start=False to start anew."
            )
        parameter.copy_(before[name])


def training_options(
    selector: BaseSelector, rows: Rows, budget: Budget, seeds: Seeds
) -> TrainingOptions:
    """Return how long and in what portions to train."""
    epochs = None if selector.max_epochs == "auto" else selector.max_epochs
    batch = budget.batch_size if selector.batch_size == "auto" else selector.batch_size
    batch = rows.source.n_rows if budget.full_batch else min(batch, rows.source.n_rows)
    return TrainingOptions(
        epochs=epochs,
        steps=budget.steps if epochs is None else None,
        max_seconds=selector.max_seconds,
        batch_size=batch,
        learning_rate=selector.learning_rate,
        device=selector._torch_device(),
        dtype=selector._torch_dtype(),
        autocast=selector.dtype == "bfloat16",
        seed=seeds.training,
        threads=threads_for(batch, len(rows.column_of), selector.n_jobs),
        **selector._training_extras(),
    )


@torch.no_grad()
def _check_output(model: GatedNetwork, standardize: Standardize, rows: Rows) -> None:
    """Try the network on a few rows before training."""
    objective = rows.target.objective
    wanted = rows.source.n_features if objective.kind == "reconstruction" else objective.n_outputs
    dtype = standardize.work_dtype
    chunk = next(iter(rows.source.chunks(2, device=torch.device("cpu"), dtype=dtype)))
    model.eval()
    x = standardize.apply_(chunk.x)
    try:
        output = model.network(x if model.gate.out_features == x.shape[1] else model.gate(x))
    except RuntimeError as error:
        raise InputError(
            f"The network cannot take rows of {x.shape[1]} features: {error}"
        ) from error
    if not isinstance(output, torch.Tensor):
        raise InputError(f"The network must return a tensor; got {type(output).__name__}.")
    if tuple(output.shape) != (len(x), wanted):
        raise InputError(
            f"The network must return {wanted} outputs a row for {objective.kind}, shape "
            f"(rows, {wanted}); got {tuple(output.shape)} for {len(x)} rows."
        )
    if not torch.isfinite(output).all():
        raise InputError("The network returns NaN or infinity before training; check its weights.")
