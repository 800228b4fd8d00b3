import io
import sys

from featuremask.datasets._progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(bar):
    with bar:
        bar.total = 4
        bar.update(2)
        bar.reset()
        bar.update(4)
        bar.close()


def test_on_a_terminal_title_and_bytes_are_drawn(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    run(ProgressBar("data.bin"))
    assert "data.bin" in terminal.getvalue()
    assert "4/4 bytes" in terminal.getvalue()


def test_elsewhere_nothing_is_written(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    run(ProgressBar("data.bin"))
    assert stream.getvalue() == ""
