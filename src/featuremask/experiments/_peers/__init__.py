"""What a user would reach for instead: selectors of other libraries, and simple ones."""

from featuremask.experiments._peers._fit import PREFIX, fit_peer

__all__ = ["PREFIX", "fit_peer"]
