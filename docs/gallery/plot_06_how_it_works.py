"""
How the mask works, in pictures
===============================

Attenuation, normalization and the falling budget, on data of which the truth is known. What the
pictures mean is said in :doc:`/how-it-works`.
"""

# %%
# Forty features, of which six make two classes: two alone, a pair of which neither helps
# alone, and two by their squares.

import matplotlib.pyplot as plt
import numpy as np
import torch

from featuremask import FeatureMask, FeatureMaskSelector
from featuremask.datasets import make_planted
from featuremask.training import Callback

data = make_planted(1000, 40, 6, kind="mixed", random_state=0)
relevant = np.isin(np.arange(40), data.relevant)

# %%
# Attenuation
# -----------
#
# Each row has logits of its own. Their mean over a batch is what makes the mask, so that the mask
# is a property of the data and not of a row. Masks of twenty batches, drawn from the same rows,
# for a module with its first weights: the larger the batch, the closer they are.

gate = FeatureMask(40, generator=torch.Generator().manual_seed(0))
rows = torch.tensor(data.X, dtype=torch.float32)
whole = gate.mask(rows).detach()

fig, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for ax, size in zip(axes, (1, 16, 256), strict=True):
    for seed in range(20):
        batch = torch.randperm(1000, generator=torch.Generator().manual_seed(seed))[:size]
        ax.plot(gate.mask(rows[batch]).detach().numpy(), color="0.6", lw=0.6)
    ax.plot(whole.numpy(), color="black", lw=1.5, label="all rows")
    ax.set(title=f"batches of {size}", xlabel="feature")
axes[0].set_ylabel("mask")
axes[0].legend(loc="upper left")

# %%
# The falling budget
# ------------------
#
# The selector's own mask starts with all features open. A budget falls geometrically to one, and
# the gates always sum to it. A callback keeps the gates of each epoch.


class Gates(Callback):
    def __init__(self):
        self.progress, self.gates = [], []

    def on_epoch_end(self, state):
        gate, columns = state.model.gate, state.model.columns
        with torch.no_grad():
            logits = gate.transformation.decode(gate.running_code)
            gates = gate.competition.gate(logits)
        everything = torch.zeros(40)
        everything[slice(None) if columns is None else columns] = gates
        self.progress.append(state.step / state.total_steps)
        self.gates.append(everything)


recorder = Gates()
selector = FeatureMaskSelector(6, callbacks=[recorder], random_state=0).fit(data.X, data.y)
progress, gates = np.array(recorder.progress), torch.stack(recorder.gates).numpy()

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.semilogy(progress, 40 ** (1 - progress), color="black", lw=4, alpha=0.25, label="budget")
left.semilogy(progress, gates.sum(axis=1), color="black", lw=1, label="sum of the gates")
left.set(xlabel="progress of training", ylabel="open features", yticks=[1, 2, 5, 10, 20, 40])
left.get_yaxis().set_major_formatter("{x:g}")
left.minorticks_off()
left.legend()
right.plot(progress, gates[:, ~relevant], color="0.75", lw=0.8)
right.plot(progress, gates[:, relevant], color="#d55e00", lw=1.5)
right.set(xlabel="progress of training", ylabel="gate", title="relevant features in color")
# %%
# Features rank by their mean gate, the area below their curve.

print("planted: ", *sorted(data.relevant.tolist()))
print("selected:", *np.flatnonzero(selector.support_))

# %%
# Normalization
# -------------
#
# The paper's mask is a softmax over all features: what one gains the others lose. After training,
# one mask over the data: the features that matter have taken what the others had.

joint = FeatureMaskSelector(6, strategy="joint", random_state=0).fit(data.X, data.y)

fig, axes = plt.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained")
color = np.where(relevant, "#d55e00", "0.7")
for ax, found, title in (
    (axes[0], joint, "joint: the softmax mask"),
    (axes[1], selector, "narrowing: mean gate over training, as shares"),
):
    ax.bar(range(40), found.feature_importances_, color=color)
    ax.axhline(1 / 40, color="black", lw=0.8, ls=":")
    ax.set(title=title, ylabel="share")
axes[1].set_xlabel("feature")
