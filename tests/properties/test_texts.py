"""Arguments of the command, TOML files and records of any content."""

import json
import string
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featuremask.cli import main
from featuremask.datasets._spec import read_spec
from featuremask.exceptions import FeatureMaskError, FileFormatError, InputError
from featuremask.experiments import Record, Store, load_suite

few = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])

words = st.text(string.printable, min_size=1, max_size=12) | st.text(max_size=6)
options = st.sampled_from(
    ["--help", "--json", "--jobs", "0", "--seed", "--shard", "9/2", "--only", "--smoke", "--", "-h"]
)
plans = st.just(["reproduce", "--plan"])
HARMLESS = st.one_of(
    st.just([]), plans, st.just(["doctor", "--nonsense"]), st.just(["datasets", "info"])
)


@few
@given(HARMLESS, st.lists(words | options, max_size=4))
def test_any_arguments_end_in_an_exit_code_and_no_traceback(start: Any, more: Any) -> None:
    more = [word for word in more if word not in ("demo", "report", "fetch")]
    result = CliRunner().invoke(main, [*start, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1, 2)
    if result.exit_code:
        assert "Traceback" not in result.output
        assert result.output.strip()


tables = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text()
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def toml(value: Any) -> str:
    """Return a value in TOML; JSON says text and lists the same way."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


SPEC_KEYS = ["name", "path", "target", "task", "drop", "sha256", "max_gigabytes", "split", "other"]


@few
@given(st.dictionaries(st.sampled_from(SPEC_KEYS), tables))
def test_a_dataset_described_by_anything_is_read_or_refused(tmp_path: Path, said: Any) -> None:
    path = tmp_path / "data.toml"
    lines = [f"{key} = {toml(value)}" for key, value in said.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        spec = read_spec(path)
    except FeatureMaskError:
        return
    assert spec.name == said["name"]


@few
@given(
    st.from_regex(r"[a-z0-9][a-z0-9_-]{0,63}", fullmatch=True),
    st.from_regex(r"[a-z]{1,8}\.(csv|parquet|npz|mat)", fullmatch=True),
    st.text(min_size=1).filter(lambda text: text.isprintable()),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32 - 1),
)
def test_a_dataset_described_by_the_rules_is_read_as_it_was_said(
    tmp_path: Path, name: str, file: str, target: str, share: float, seed: int
) -> None:
    path = tmp_path / "data.toml"
    text = f"name = {toml(name)}\npath = {toml(file)}\ntarget = {toml(target)}\n"
    text += f"[split]\ntest_size = {toml(share)}\nrandom_state = {seed}\n"
    path.write_text(text, encoding="utf-8")
    spec = read_spec(path)
    said = (spec.name, spec.path, spec.target, spec.test_size, spec.random_state)
    assert said == (name, tmp_path / file, target, share, seed)


@few
@given(st.dictionaries(st.sampled_from(["title", "methods", "seeds", "ks", "smoke", "x"]), tables))
def test_an_experiment_of_anything_is_refused_in_our_words(tmp_path: Path, said: Any) -> None:
    (tmp_path / "datasets.toml").write_text("", encoding="utf-8")
    (tmp_path / "methods.toml").write_text("", encoding="utf-8")
    lines = [f"{key} = {toml(value)}" for key, value in said.items()]
    (tmp_path / "trial.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises((InputError, FileFormatError)):
        load_suite(tmp_path)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
records = st.builds(
    Record,
    key=st.text("0123456789abcdef", min_size=1, max_size=16),
    kind=st.sampled_from(["fit", "measure"]),
    status=st.sampled_from(["ok", "error", "timeout", "diverged", "skipped"]),
    reason=st.text(),
    run=st.dictionaries(st.text(max_size=5), plain),
    result=st.dictionaries(st.text(max_size=5), plain),
    seconds=st.floats(0, 1e6),
)


@few
@given(st.lists(records, max_size=5, unique_by=lambda r: r.key), st.lists(st.binary(max_size=9)))
def test_records_come_back_whatever_they_hold_and_whatever_was_torn_between(
    tmp_path_factory: Any, some: Any, torn: Any
) -> None:
    store = Store(tmp_path_factory.mktemp("records"))
    path = store.folder / "a" / "b" / "c.jsonl"
    for number, record in enumerate(some):
        store.append("a/b/c.jsonl", record)
        if number < len(torn):
            with path.open("ab") as file:
                file.write(b'{"key": "torn' + torn[number].replace(b"\n", b""))
    assert {record.key: record for record in store.read()} == {r.key: r for r in some}
