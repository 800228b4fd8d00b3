"""
Ten pixels of a digit
=====================

Which ten of the 64 pixels of scikit-learn's handwritten digits tell them apart best?
"""

# %%
# A selector is a scikit-learn estimator. It is told how many features to select, and trained on
# rows and classes.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from featuremask import FeatureMaskSelector

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

selector = FeatureMaskSelector(n_features_to_select=10, random_state=0).fit(X_train, y_train)
selector

# %%
# It ranks all columns, and pictures of the ranking come with the library: the importance of each
# pixel as an image, and the selected ones beside it.

from featuremask.plot import MaskDisplay

MaskDisplay.from_estimator(selector, (8, 8))

# %%
# What the selection is worth is for another model to say, on rows that it has not seen: a forest on
# the ten pixels, on all, and on ten drawn at random.

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def accuracy(columns):
    forest = RandomForestClassifier(random_state=0).fit(X_train[:, columns], y_train)
    return forest.score(X_test[:, columns], y_test)


draws = np.random.default_rng(0)
at_random = [accuracy(draws.choice(64, 10, replace=False)) for _ in range(5)]

print(f"all 64 pixels    {accuracy(np.arange(64)):.1%}")
print(f"the ten selected {accuracy(selector.get_support(indices=True)):.1%}")
print(f"ten at random    {np.mean(at_random):.1%} on average of five draws")
