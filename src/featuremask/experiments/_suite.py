"""A folder of experiments: definitions of datasets and methods, and one file an experiment."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from featuremask.exceptions import InputError
from featuremask.experiments._parse import build, check_keys, check_shapes, read_toml
from featuremask.experiments._spec import (
    DatasetSpec,
    Experiment,
    HoldOut,
    MethodSpec,
    Search,
    Suite,
)

__all__ = ["find_suite", "load_suite"]

_DEFINITIONS = ("suite.toml", "datasets.toml", "methods.toml", "published.toml", "notes.toml")
_SMOKE_KEYS = ("datasets", "seeds", "ks", "settings", "trials", "classifiers", "vary", "variants")
_PART_KEYS = ("splits", "hold_out")
_BASE_KEYS = ("settings", "by_dataset")


def find_suite(name: str) -> Path:
    """Return the folder of a suite: a path, or a name below the folder `experiments`.

    That folder is looked for here, in the parents of the working directory, and beside the
    package's source.
    """
    if Path(name).is_dir():
        return Path(name)
    here = Path.cwd()
    for root in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (root / "experiments" / name).is_dir():
            return root / "experiments" / name
    raise InputError(
        f"There is no folder {name!r} and no folder experiments/{name} in {here} or above. Run "
        "the command in a checkout of the repository, or name the folder."
    )


def load_suite(folder: Path, *, smoke: bool = False) -> Suite:
    """Read a folder of experiments.

    Parameters
    ----------
    folder : Path
        Holds `datasets.toml`, `methods.toml` and one TOML file an experiment. `suite.toml`, if it
        is there, gives the title and the kind of the report, and names a folder beside it whose
        definitions hold too (`extends`).
    smoke : bool, default=False
        Take the reduced form that each experiment declares in its table `smoke`.

    Returns
    -------
    Suite
    """
    about = read_toml(folder / "suite.toml") if (folder / "suite.toml").exists() else {}
    check_keys(about, ("title", "page", "extends"), str(folder / "suite.toml"))
    base = folder.parent / about.pop("extends") if "extends" in about else None
    homes = [home for home in (base, folder) if home is not None]
    datasets, methods = dict[str, DatasetSpec](), dict[str, MethodSpec]()
    for home in homes:
        datasets |= _read_datasets(home / "datasets.toml")
        methods |= _read_methods(home / "methods.toml")
    files = sorted(path for path in folder.glob("*.toml") if path.name not in _DEFINITIONS)
    experiments = [_experiment(path, datasets, methods, smoke) for path in files]
    if not experiments:
        raise InputError(f"{folder} holds no experiment; each is a TOML file of its own.")
    if smoke and all(experiment.search is None for experiment in experiments):
        experiments = [_untuned(experiment) for experiment in experiments]
    experiments.sort(key=lambda experiment: (experiment.order, experiment.name))
    words = {"name": folder.name, "experiments": (), **about}
    suite = build(Suite, words, str(folder / "suite.toml"))
    return replace(suite, experiments=tuple(experiments), base=base)


def _untuned(experiment: Experiment) -> Experiment:
    """Return a reduced experiment that waits for no search: its suite has none."""
    methods = tuple(replace(method, tuned=False) for method in experiment.methods)
    return replace(experiment, methods=methods)


def _read_datasets(path: Path) -> dict[str, DatasetSpec]:
    specs = {}
    for name, table in read_toml(path).items():
        check_shapes(table, f"{path}: [{name}]")
        table = {"name": name, "source": name, "title": name, **table}
        specs[name] = build(DatasetSpec, table, f"{path}: [{name}]")
    return specs


def _read_methods(path: Path) -> dict[str, MethodSpec]:
    tables = read_toml(path)
    specs = {}
    for name, table in tables.items():
        check_shapes(table, f"{path}: [{name}]")
        for dataset, settings in table.get("by_dataset", {}).items():
            check_shapes(settings, f"{path}: [{name}.by_dataset.{dataset}]")
    for name, table in tables.items():
        where = f"{path}: [{name}]"
        table = dict(table)
        if table.pop("shared", False):
            check_keys(table, _BASE_KEYS, where)
            continue
        base = tables.get(table.pop("extends", ""), {})
        merged = {"name": name, "title": name, **table}
        merged["settings"] = {**base.get("settings", {}), **table.get("settings", {})}
        merged["by_dataset"] = _merged(base.get("by_dataset", {}), table.get("by_dataset", {}))
        specs[name] = build(MethodSpec, merged, where)
    return specs


def _merged(
    base: Mapping[str, Mapping[str, Any]], own: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {name: {**base.get(name, {}), **own.get(name, {})} for name in {**base, **own}}


def _experiment(
    path: Path,
    datasets: Mapping[str, DatasetSpec],
    methods: Mapping[str, MethodSpec],
    smoke: bool,
) -> Experiment:
    table = read_toml(path)
    where = str(path)
    check_shapes(table, where)
    reduced = table.pop("smoke", {})
    check_shapes(reduced, f"{where}: [smoke]")
    check_keys(reduced, _SMOKE_KEYS, f"{where}: [smoke]")
    settings = reduced.pop("settings", {}) if smoke else {}
    trials = reduced.pop("trials", None)
    if smoke:
        table = {**table, **reduced}
        if trials is not None and "search" in table:
            table["search"] = {**table["search"], "trials": trials}
    known = {f.name for f in fields(Experiment)} - {"name"} | {"vary", "variants", *_PART_KEYS}
    check_keys(table, known, where)
    chosen = [_named(methods, name, "method", where) for name in table.pop("methods", [])]
    chosen = _varied(chosen, table.pop("vary", {}), table.pop("variants", []), where)
    data = [_named(datasets, name, "dataset", where) for name in table.pop("datasets", [])]
    data = _parts(data, table.pop("splits", [0]), table.pop("hold_out", {}), where)
    search = table.pop("search", None)
    return build(
        Experiment,
        {
            **table,
            "name": path.stem,
            "methods": [_over(method, settings) for method in chosen],
            "datasets": data,
            "search": None if search is None else _search(search, where),
        },
        where,
    )


def _named(specs: Mapping[str, Any], name: Any, kind: str, where: str) -> Any:
    if not isinstance(name, str) or name not in specs:
        raise InputError(
            f"{where}: there is no {kind} {name!r}; {kind}s.toml defines {', '.join(specs)}."
        )
    return specs[name]


def _parts(data: list[DatasetSpec], splits: Any, hold_out: Any, where: str) -> list[DatasetSpec]:
    """Return each dataset in all splits, and of each all parts of its training rows to judge on."""
    check_keys(hold_out, ("rows", "fraction", "seeds"), f"{where}: [hold_out]")
    seeds = hold_out.get("seeds", [0])
    if not all(isinstance(seed, int) for seed in (*splits, *seeds)):
        raise InputError(f"{where}: splits and seeds are integers; got {splits!r} and {seeds!r}.")
    specs = [
        replace(spec, name=f"{spec.name}-split{split}", split=split) if split else spec
        for spec in data
        for split in splits
    ]
    if not hold_out:
        return specs
    rest = {"rows": hold_out.get("rows", 10_000), "fraction": hold_out.get("fraction", 0.2)}
    return [
        replace(
            spec,
            name=f"{spec.name}-part{seed}",
            hold_out=build(HoldOut, {**rest, "seed": seed}, f"{where}: [hold_out]"),
        )
        for spec in specs
        for seed in seeds
    ]


def _over(method: MethodSpec, settings: Mapping[str, Any], suffix: str = "") -> MethodSpec:
    """Return a trained method with settings laid over its own."""
    if not method.trained:
        return method
    return replace(
        method,
        name=method.name + suffix,
        title=method.title + suffix.replace("/", ", "),
        settings={**method.settings, **settings},
        by_dataset={name: {**own, **settings} for name, own in method.by_dataset.items()},
    )


def _varied(methods: list[MethodSpec], vary: Any, variants: Any, where: str) -> list[MethodSpec]:
    """Return each method in all its variants; just the methods if there are none."""
    if not all(isinstance(values, list) for values in vary.values()):
        raise InputError(f"{where}: vary must be a table of arrays; got {vary!r}.")
    named: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    for variant in variants:
        check_shapes(variant, f"{where}: [[variants]]")
        check_keys(variant, ("name", "settings", "rank_by"), f"{where}: [[variants]]")
        if "name" not in variant:
            raise InputError(f"{where}: [[variants]]: name must be given.")
        more = {key: variant[key] for key in ("rank_by",) if key in variant}
        named.append((f"/{variant['name']}", variant.get("settings", {}), more))
    named += [
        (f"/{word}={value}", {word: value}, {}) for word, values in vary.items() for value in values
    ]
    if not named:
        return methods
    return [
        replace(_over(method, settings, suffix), **more)
        for method in methods
        for suffix, settings, more in named
    ]


def _search(table: Any, where: str) -> Search:
    where = f"{where}: [search]"
    check_keys(table, ("trials", "seed", "rows", "fraction", "hold_out_seed"), where)
    hold_out = {
        "rows": table.get("rows", 10_000),
        "fraction": table.get("fraction", 0.1),
        "seed": table.get("hold_out_seed", 0),
    }
    words = {key: table[key] for key in ("trials", "seed") if key in table}
    return build(Search, {"seed": 0, **words, "hold_out": build(HoldOut, hold_out, where)}, where)
