"""
A recurrent network behind a mask
=================================

Twelve sensors are read sixteen times. Which sensors does a recurrent network need?
"""

# %%
# Each sensor drifts up or down, and swells or sinks halfway, at random. Two of them tell the class:
# sensor 3 by its drift, sensor 7 by what it does halfway. No reading alone says anything.

import numpy as np
import torch
from torch import nn

from featuremask import FeatureMask

rng = np.random.default_rng(0)
n_rows, n_times, n_sensors = 800, 16, 12
time = np.linspace(-1, 1, n_times)[:, None]

drift, swell = rng.choice([-1, 1], size=(2, n_rows, 1, n_sensors))
level = rng.normal(size=(n_rows, 1, n_sensors))
series = level + drift * time + swell * np.cos(np.pi * time)
series += 0.3 * rng.normal(size=series.shape)

x = torch.tensor(series, dtype=torch.float32)
y = torch.tensor((drift[:, 0, 3] > 0) + 2 * (swell[:, 0, 7] > 0))
x_train, y_train, x_test, y_test = x[:600], y[:600], x[600:], y[600:]

# %%
# ``FeatureMask(12)`` masks the last axis of ``(rows, times, sensors)``; each time of each row is
# one more row for the mask, and all share it. Without ``narrowing`` it is the paper's mask: a
# softmax, in which the sensors compete. It stays in the network. ``scale="mean"`` makes its entries
# one on average, so that inputs keep their size.


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = FeatureMask(n_sensors, scale="mean")
        self.memory = nn.GRU(n_sensors, 32, batch_first=True)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        states, _ = self.memory(self.mask(x))
        return self.head(states.mean(1))


torch.manual_seed(0)
network = Recurrent()
optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
for _ in range(250):
    batch = torch.randperm(len(x_train))[:100]
    loss = nn.functional.cross_entropy(network(x_train[batch]), y_train[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %%
# ``freeze_from`` streams the training rows and stores their mask, which holds from then on: what
# the network says of a row does not depend on the rows beside it.

statistic = network.mask.freeze_from(x_train.split(200))
network.eval()
mask = network.mask.mask(x_test).detach().numpy()
accuracy = (network(x_test).argmax(1) == y_test).float().mean()
scores = network.mask.importance(statistic).scores
print(f"accuracy on {len(x_test)} rows: {accuracy:.1%}")
print("sensors, best first:", scores.argsort(descending=True)[:4].tolist())

# %%
import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for i, (sensor, style) in enumerate([(3, "-"), (7, "--"), (0, ":")]):
    left.plot(x_test[0, :, sensor].numpy() - 5 * i, style, color="black")
    left.text(n_times - 0.5, -5 * i, f"sensor {sensor}", va="center")
left.set(
    title="three of the twelve sensors, one row",
    xlabel="time",
    xticks=[0, 5, 10, 15],
    yticks=[],
    xlim=(0, 20),
)
right.bar(range(n_sensors), mask, color=["#d55e00" if s in (3, 7) else "0.6" for s in range(12)])
right.set(title="the mask", xlabel="sensor", ylabel="share", xticks=range(n_sensors))
