"""
A convolutional network behind a mask
=====================================

``FeatureMask`` is a layer: it stands in front of a network of your own, in a training loop of your
own. Here it masks the pixels of images, for a network that needs images.
"""

# %%
# ``FeatureMask((8, 8))`` masks the last two axes; all channels share the mask. With
# ``narrowing=True`` all pixels pass at first, and fewer and fewer while training goes on.

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from featuremask import FeatureMask

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
labels = torch.tensor(digits.target)
train, test = train_test_split(np.arange(len(labels)), random_state=0, stratify=labels)
loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size=128, shuffle=True)


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


# %%
# The loop is the usual one, and one line more: ``anneal`` tells the mask how far training is.


def fit(network, epochs, *, mask=None):
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            if mask is not None:
                mask.anneal((epoch + i / len(loader)) / epochs)
            loss = nn.functional.cross_entropy(network(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval()


mask = FeatureMask((8, 8), narrowing=True)
fit(nn.Sequential(mask, convolutional()), epochs=25, mask=mask)

# %%
# Then the mask is read out over all training rows: pixels rank by how long they stayed open.

statistic = mask.freeze_from(loader)
scores = mask.importance(statistic).scores
chosen = scores.argsort(descending=True)[:10]

# %%
# A narrowing mask ends at a single pixel, so the network behind it is not the one to keep. Train
# that one on the selected pixels.


class Only(nn.Module):
    """Let some pixels pass and nothing of the others."""

    def __init__(self, pixels):
        super().__init__()
        self.register_buffer("kept", torch.zeros(64).index_fill(0, pixels, 1.0).reshape(8, 8))

    def forward(self, x):
        return x * self.kept


for name, pixels in {
    "all 64 pixels": torch.arange(64),
    "the ten selected": chosen,
    "ten at random": torch.randperm(64)[:10],
}.items():
    network = fit(nn.Sequential(Only(pixels), convolutional()), epochs=10)
    accuracy = (network(images[test]).argmax(1) == labels[test]).float().mean()
    print(f"{name:16} {accuracy:.1%}")

# %%
import matplotlib.pyplot as plt

support = Only(chosen).kept.numpy()
fig, axes = plt.subplots(1, 4, figsize=(9, 2.7), layout="constrained")
axes[0].imshow(scores.reshape(8, 8).numpy(), cmap="Greys")
axes[0].set_title("share of training open")
for ax, i in zip(axes[1:], test, strict=False):
    image = digits.images[i]
    ax.imshow(image, cmap="Greys", alpha=0.25, vmin=0, vmax=16)
    ax.imshow(np.ma.masked_where(support == 0, image), cmap="Greys", vmin=0, vmax=16)
    for row, column in np.argwhere(support):
        corner = (column - 0.45, row - 0.45)
        ax.add_patch(plt.Rectangle(corner, 0.9, 0.9, fill=False, ec="#d55e00", lw=1.5))
axes[2].set_title("what the network sees of three digits")
for ax in axes:
    ax.set(xticks=[], yticks=[])
