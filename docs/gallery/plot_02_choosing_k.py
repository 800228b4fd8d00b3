"""
Accuracy against the number of features
=======================================

One training ranks all features, so that a curve over k costs downstream models alone.
"""

# %%
# The bundled breast cancer data has 30 columns; many say nearly the same.

from featuremask import FeatureMaskSelector
from featuremask.datasets import load

data = load("breast_cancer")
selector = FeatureMaskSelector(standardize="column", random_state=0)
selector.fit(data.X_train, data.y_train)

# %%
# What any selection has to beat is chance: the curve stands beside columns at random, and beside
# all columns.

from featuremask.plot import SelectionCurveDisplay

ks = [1, 2, 3, 5, 10, 20, 30]
SelectionCurveDisplay.from_estimator(selector, data, ks=ks)

# %%
# It rises while columns bring something new, then it is flat. Take the smallest k on the plateau:
# a difference of a percent is a single row here, and means nothing.
#
# The standard error of an accuracy says what is noise. The smallest k within one standard error of
# the best is a common choice, and errs on the side of fewer columns.

import numpy as np

from featuremask.evaluation import k_curve

curve = k_curve(selector.ranking_, data, ks, classifier="rf")
best = max(evaluation.accuracy for evaluation in curve.values())
error = np.sqrt(best * (1 - best) / len(data.X_test))
k = next(k for k in ks if curve[k].accuracy >= best - error)
chosen = selector.set_params(n_features_to_select=k).get_support(indices=True)  # no refit

print(f"{len(data.X_test)} test rows: best accuracy {best:.3f}, standard error {error:.3f}")
print(f"{k} columns:", *(data.feature_names[i] for i in chosen), sep="\n  ")
