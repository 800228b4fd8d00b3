"""The code of the README does what the README says."""

import re

import pytest
import torch
from tests.pages import ROOT, run_page

README = ROOT / "README.md"


@pytest.mark.slow
def test_every_python_block_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loader = torch.utils.data.DataLoader(torch.rand(64, 784), batch_size=32)
    names = run_page(README, {"my_network": torch.nn.Linear(784, 10), "train_loader": loader})
    assert len(names["selector"].selected_names_) == 5
    assert (tmp_path / "selector.fm").is_file()


def test_every_linked_file_exists():
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text())
    assert links
    for link in links:
        assert (README.parent / link).exists(), link
