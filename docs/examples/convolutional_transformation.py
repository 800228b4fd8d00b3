"""A convolutional transformation: neighboring pixels get similar logits."""

import torch
from torch import Tensor, nn


class ConvolutionalTransformation(nn.Module):
    """Two convolutions, from images as flat rows to one logit a pixel.

    With `encode` and an affine `decode` the mean over the batch is taken between them, so that
    the second convolution sees one image instead of a batch.

    Examples
    --------
    >>> from featuremask import FeatureMask
    >>> gate = FeatureMask((28, 28), transformation=ConvolutionalTransformation(28, 28))
    >>> gate(torch.rand(32, 1, 28, 28)).shape
    torch.Size([32, 1, 28, 28])
    """

    def __init__(self, height: int, width: int, channels: int = 8) -> None:
        super().__init__()
        self.height, self.width, self.channels = height, width, channels
        self.code_units = channels * height * width
        self.first = nn.Conv2d(1, channels, kernel_size=5, padding=2)
        self.second = nn.Conv2d(channels, 1, kernel_size=5, padding=2)

    def encode(self, rows: Tensor) -> Tensor:
        """Return the hidden code of each row."""
        return torch.tanh(self.first(rows.reshape(-1, 1, self.height, self.width))).flatten(1)

    def decode(self, code: Tensor) -> Tensor:
        """Return the logits of a code, or of a mean of codes."""
        maps = code.reshape(-1, self.channels, self.height, self.width)
        return self.second(maps).reshape(*code.shape[:-1], -1)
