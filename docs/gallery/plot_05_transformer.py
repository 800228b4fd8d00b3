"""
A transformer behind a mask
===========================

Which positions of a sequence matter? Here sequences are 24 letters long, and the class is decided
by the letters at three places.
"""

# %%
# A row has one unit vector a letter, ``(rows, 24, 4)``. Class 1 are rows with A or G at two or
# three of the places 5, 11 and 18.

import torch
from torch import nn

from featuremask import FeatureMask

torch.manual_seed(0)
letters = torch.randint(4, (1200, 24))
x = nn.functional.one_hot(letters, 4).float()
y = ((letters[:, [5, 11, 18]] < 2).sum(1) >= 2).long()

# %%
# ``FeatureMask(24, dims=1)`` masks the second axis: one number a position, for all four entries of
# its vector. A transformer adds to each token where it stands; that comes after the mask, so a
# closed position is still a token, but one that says nothing.


class Transformer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.mask = FeatureMask(24, dims=1, narrowing=True)
        self.embed = nn.Linear(4, width)
        self.place = nn.Parameter(0.5 * torch.randn(24, width))
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        tokens = self.embed(self.mask(x)) + self.place
        return self.head(self.layer(tokens).mean(1))


# %%
# Weight decay is for the network; ``no_decay_parameters`` lists what it should leave alone.

network = Transformer()
mask = network.mask
alone = mask.no_decay_parameters()
others = [p for name, p in network.named_parameters() if not name.startswith("mask.")]
optimizer = torch.optim.AdamW(
    [{"params": others, "weight_decay": 0.01}, {"params": alone, "weight_decay": 0.0}], lr=3e-3
)
n_steps, opened = 250, []
for step in range(n_steps):
    mask.anneal(step / n_steps)
    batch = torch.randint(len(x), (100,))
    loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        with torch.no_grad():
            opened.append(mask.mask(x[:256]) * mask.scale)  # the gates: they sum to the budget

statistic = mask.freeze_from(x.split(400))
scores = mask.importance(statistic).scores
print("positions, best first:", scores.argsort(descending=True)[:5].tolist())

# %%
# How far each position was open while the number of those that may pass fell from 24 to one:

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
image = ax.imshow(torch.stack(opened).numpy(), cmap="Greys", aspect="auto", vmin=0, vmax=1)
ax.set(xlabel="position", ylabel="step of training", xticks=[0, 5, 11, 18, 23])
ax.set_yticks([0, 10, 20, 24], [0, 100, 200, 240])
fig.colorbar(image, label="gate")
