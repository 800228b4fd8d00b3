"""Reading ahead in a thread."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["one_ahead"]

T = TypeVar("T")


def one_ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """Yield the items of a generator; while one is used, the next is made in a thread.

    An error of the generator is raised where its item would have come. One that is left early is
    closed.

    Examples
    --------
    >>> list(one_ahead(2 * i for i in range(3)))
    [0, 2, 4]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="featuremask-read") as pool:
        coming = pool.submit(next, items, None)
        try:
            while (item := coming.result()) is not None:
                coming = pool.submit(next, items, None)
                yield item
        finally:
            pool.submit(items.close).result()
