"""The bridge to scikit-learn's callbacks, where the installed version has them (1.9)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from featuremask.training import Callback, TrainingState

__all__ = ["CallbackSupportMixin", "SklearnCallbacks", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """What an estimator needs to carry callbacks."""

    def with_callbacks(method: F) -> F:
        """Take the callbacks down after the method, whether it succeeded or not."""

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """Nothing: this version of scikit-learn has no callbacks."""

        def with_callbacks(method):
            """Return the method: this version of scikit-learn has no callbacks."""
            return method


class SklearnCallbacks(Callback):
    """Tell the callbacks of an estimator (`set_callbacks`) of each epoch.

    Parameters
    ----------
    estimator : BaseEstimator
        The one that is being fitted.
    n_epochs : int or None
        How many epochs there will be, if that is known.
    """

    def __init__(self, estimator: Any, n_epochs: int | None) -> None:
        self._estimator = estimator
        self._context = estimator._init_callback_context(max_subtasks=n_epochs)

    @classmethod
    def of(cls, estimator: Any, n_epochs: int | None) -> "list[Callback]":
        """Return a bridge if the estimator carries callbacks of its own or of its parent."""
        carries = getattr(estimator, "_skl_callbacks", None)
        return [cls(estimator, n_epochs)] if carries else []

    def on_fit_begin(self, state: TrainingState) -> None:
        """Begin the task of the whole fit."""
        self._context.call_on_fit_task_begin(estimator=self._estimator)

    def on_epoch_end(self, state: TrainingState) -> bool:
        """Tell of one epoch; a callback that returns True ends training."""
        epoch = self._context.subcontext(task_name="epoch")
        epoch.call_on_fit_task_begin(estimator=self._estimator)
        return bool(
            epoch.call_on_fit_task_end(estimator=self._estimator, metadata=state.history[-1])
        )

    def on_fit_end(self, state: TrainingState) -> None:
        """End the task of the whole fit."""
        self._context.call_on_fit_task_end(estimator=self._estimator)
