"""
Without a target
================

Which pixels say most about all the others? Without ``y`` a selector trains an autoencoder behind
the mask.
"""

# %%
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from featuremask import FeatureMaskSelector

digits = load_digits()
X_train, X_test = train_test_split(digits.data, random_state=0)
selector = FeatureMaskSelector(n_features_to_select=16, random_state=0).fit(X_train)
print(selector.objective_)

# %%
# Another model judges again: all pixels of unseen digits, predicted from the sixteen by least
# squares, against sixteen pixels at random.


def predicted(columns):
    model = LinearRegression().fit(X_train[:, columns], X_train)
    return model.predict(X_test[:, columns])


def error(columns):
    variance = ((X_test - X_train.mean(axis=0)) ** 2).sum()
    return ((X_test - predicted(columns)) ** 2).sum() / variance


chosen = selector.get_support(indices=True)
draws = np.random.default_rng(0)
at_random = [error(draws.choice(64, 16, replace=False)) for _ in range(50)]
print(f"variance that stays unexplained: {error(chosen):.1%} by the selected pixels,")
print(f"{np.mean(at_random):.1%} by sixteen at random (mean of 50), {min(at_random):.1%} at best")

# %%
import matplotlib.pyplot as plt

fig, axes = plt.subplots(3, 6, figsize=(9, 4.6), layout="constrained")
seen = np.ma.masked_where(~np.tile(selector.support_, (6, 1)), X_test[:6])
for row, images in zip(axes, (X_test[:6], seen, predicted(chosen)[:6]), strict=True):
    for ax, image in zip(row, images, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="Greys", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ("digit", "sixteen pixels", "all, from these"), strict=True):
    ax.set_ylabel(name)
