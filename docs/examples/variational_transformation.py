"""A variational transformation: Bayesian weights, whose KL term joins the loss."""

import torch
from torch import Tensor, nn

from featuremask.networks import Seeded


class VariationalLinear(Seeded):
    """A dense layer with independent normal weights; they are drawn anew for each batch."""

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.randn(n_outputs, n_inputs) / n_inputs**0.5)
        self.log_std = nn.Parameter(torch.full((n_outputs, n_inputs), -3.0))

    def forward(self, x: Tensor) -> Tensor:
        """Return the product with drawn weights, or with their means in evaluation."""
        noise = torch.empty_like(self.mean).normal_(generator=self.generator)
        return x @ (self.mean + self.training * self.log_std.exp() * noise).T

    def divergence(self) -> Tensor:
        """Return the KL divergence of the weights from a standard normal prior."""
        variance = (2 * self.log_std).exp()
        return 0.5 * (self.mean.square() + variance - 1).sum() - self.log_std.sum()


class VariationalTransformation(nn.Sequential):
    """Two variational layers with tanh: ``FeatureMask(D, transformation=...(D))``."""

    def __init__(self, n_features: int, units: int = 128, weight: float = 1e-4) -> None:
        first, last = VariationalLinear(n_features, units), VariationalLinear(units, n_features)
        super().__init__(first, nn.Tanh(), last)
        self.weight = weight

    def penalty(self) -> Tensor:
        """Return the KL term, which the training loop adds to the loss."""
        return self.weight * (self[0].divergence() + self[2].divergence())
