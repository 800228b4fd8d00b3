import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from featuremask.experiments._claims import claimed


def _foreign_claim(folder: Path, owner: object, age: float) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "key"
    path.write_text(json.dumps(owner), encoding="utf-8")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_a_key_is_claimed_once(tmp_path: Path) -> None:
    with claimed(tmp_path, "key") as first, claimed(tmp_path, "key") as second:
        assert first
        assert not second


def test_a_claim_ends_with_the_work(tmp_path: Path) -> None:
    with claimed(tmp_path, "key"):
        pass
    with claimed(tmp_path, "key") as mine:
        assert mine
    assert not (tmp_path / "key").exists()


def test_a_claim_of_another_machine_holds_for_its_lease(tmp_path: Path) -> None:
    owner = {"host": "elsewhere", "process": 1}
    _foreign_claim(tmp_path, owner, age=30)
    with claimed(tmp_path, "key", lease=60) as mine:
        assert not mine
    _foreign_claim(tmp_path, owner, age=90)
    with claimed(tmp_path, "key", lease=60) as mine:
        assert mine


def test_a_claim_that_cannot_be_read_holds_for_its_lease(tmp_path: Path) -> None:
    _foreign_claim(tmp_path, "just made", age=1)
    with claimed(tmp_path, "key", lease=60) as mine:
        assert not mine


def test_a_claim_of_a_process_that_is_gone_is_void_at_once(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path;"
        "from featuremask.experiments._claims import claimed\n"
        f"with claimed(Path({str(tmp_path)!r}), 'key'): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / "key").exists()
    with claimed(tmp_path, "key") as mine:
        assert mine


def test_the_owner_gives_signs_of_life(tmp_path: Path) -> None:
    with claimed(tmp_path, "key", lease=0.3):
        before = (tmp_path / "key").stat().st_mtime_ns
        time.sleep(0.3)
        assert (tmp_path / "key").stat().st_mtime_ns > before


def test_of_many_that_want_a_void_claim_one_gets_it(tmp_path: Path) -> None:
    _foreign_claim(tmp_path, {"host": "elsewhere", "process": 1}, age=90)
    start, done = threading.Barrier(8), threading.Barrier(8)
    got: list[bool] = []

    def want() -> None:
        start.wait()
        with claimed(tmp_path, "key", lease=60) as mine:
            got.append(mine)
            done.wait()

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(got) == 1
