"""The results of a run as a table to print."""

from featuremask.benchmarking._results import Results

__all__ = ["table"]


def table(results: Results) -> str:
    """Return the results as a table to print."""
    lines = [", ".join(f"{name} {value}" for name, value in results.machine.items())]
    lines += _epoch_lines(results.epochs) + _step_lines(results.steps)
    for title, curve in (
        ("seconds an epoch, by rows", results.rows),
        ("seconds a step, by columns", results.columns),
        ("seconds a step, by stored entries", results.density),
        ("seconds of fits together, by members", results.by_members),
    ):
        if curve:
            cells = [f"{value:.3g}" for value in curve.values()]
            lines += ["", _line(title, list(curve)), _line("", cells)]
    lines += _member_lines(results.members)
    if results.memory:
        lines += ["", _line("peak memory of fit, MB", ["data", "parameters", "extra", "bound"])]
    for name, row in results.memory.items():
        lines.append(_line(name, [f"{value:,.0f}" for value in row.values()]))
    return "\n".join(lines)


def _epoch_lines(epochs: dict[str, dict[str, float]]) -> list[str]:
    if not epochs:
        return []
    floor = epochs["floor"]
    lines = ["", _line("seconds an epoch (times the floor)", [f"batch {b}" for b in floor])]
    for name, row in epochs.items():
        lines.append(_line(name, [f"{row[b]:.3f} ({row[b] / floor[b]:.2f})" for b in floor]))
    return lines


def _step_lines(steps: dict[str, float]) -> list[str]:
    lines = ["", _line("a step, 256 x 784", ["ms", "/ FM"])] if steps else []
    for name, seconds in steps.items():
        lines.append(_line(name, [f"{1e3 * seconds:.2f}", f"{seconds / steps['FM']:.2f}"]))
    return lines


def _member_lines(members: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of many fits at once, against fits one by one and against products."""
    if not members:
        return []
    batches = list(next(iter(members.values())))
    lines = ["", _line("seconds of many fits, 1248 x 617", [f"batch {b}" for b in batches])]
    for name, row in members.items():
        lines.append(_line(name, [f"{row[b]:.2f}" for b in batches]))
        strategy, _, how = name.partition(", ")
        if how == "products":
            together = members[f"{strategy}, together"]
            alone = members[f"{strategy}, one by one"]
            cells = [f"{together[b] / alone[b]:.2f}, {together[b] / row[b]:.2f}" for b in batches]
            lines.append(_line("  together / one by one, / products", cells))
    return lines


def _line(name: str, cells: list[str]) -> str:
    return f"{name:36}" + "".join(f"{cell:>16}" for cell in cells)
