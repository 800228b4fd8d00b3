"""The gates that train nothing."""

import torch

from featuremask.gates import AllFeaturesGate, RandomGate


def scores(seed: int, **words: object) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return RandomGate(50, generator=generator, **words).importance(None).scores


def test_random_scores_follow_from_the_generator() -> None:
    assert torch.equal(scores(1), scores(1))
    assert not torch.equal(scores(1), scores(2))
    assert len(scores(1).unique()) == 50


def test_random_scores_are_one_a_group() -> None:
    assert len(scores(1, feature_groups=["a"] * 30 + ["b"] * 20)) == 2


def test_all_features_score_the_same() -> None:
    assert AllFeaturesGate(4).importance(None).scores.tolist() == [1.0] * 4
