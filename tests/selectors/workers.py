"""A process that fits with others and meets a mishap; started once for each rank."""

import json
import os
import signal
import sys
import time
from pathlib import Path

from featuremask import FeatureMaskSelector
from featuremask.selectors.worker import fit_worker
from featuremask.sources import ParquetSource
from featuremask.training import Callback, TrainingState

EPOCHS = 5
TIMEOUTS_S = {"stalled": 15.0}


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stalled() -> None:
    time.sleep(300)


def nothing() -> None:
    pass


MISHAPS = {f.__name__: f for f in (killed, stalled, nothing)}


class Mishap(Callback):
    """What happens to the second rank after its third epoch, if it is the first start."""

    def __init__(self, name: str) -> None:
        self.happen = MISHAPS[name]

    def on_epoch_end(self, state: TrainingState) -> None:
        first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
        if state.epoch == 3 and os.environ["RANK"] == "1" and first:
            self.happen()


def main(folder: Path, mishap: str, seed: int) -> None:
    source = ParquetSource(folder / "lots", target="bin", window_bytes=2**12)
    checkpoint = folder / f"state-{mishap}"
    selector = FeatureMaskSelector(
        2,
        max_epochs=EPOCHS,
        batch_size=100,
        checkpoint=checkpoint,
        callbacks=[Mishap(mishap)],
        random_state=seed,
    )
    fit_worker(
        selector,
        source,
        out=folder / f"{mishap}.safetensors",
        timeout_s=TIMEOUTS_S.get(mishap, 120.0),
    )
    found = {"ranking": selector.ranking_.tolist(), "scores": selector.scores_.tolist()}
    (folder / f"{mishap}-{os.environ['RANK']}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    seed = int(os.environ["RANK"]) if sys.argv[3:] == ["another seed"] else 0
    main(Path(sys.argv[1]), sys.argv[2], seed)
