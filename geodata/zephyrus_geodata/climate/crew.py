"""Who computes: threads of this process, or the workers of a Dask cluster."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from zephyrus_geodata.errors import StoreError, StoreFailure


class Crew(Protocol):
    """Runs a function on several sets of arguments at once."""

    workers: int

    def map(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Return the results in the order of the calls."""


class Threads:
    """Dask's threads; sorting releases the interpreter, so that they work side by side."""

    def __init__(self, workers: int | None = None) -> None:
        _need("dask", "zephyrus[data]")
        self.workers = workers or _processors()

    def map(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Return the results in the order of the calls."""
        dask: Any = import_module("dask")  # has types, but not of what it exports
        # Delayed would look into the arguments for things to compute.
        tasks = [dask.delayed(_Bound(work, arguments), pure=False)() for arguments in calls]
        results: Sequence[Any] = dask.compute(*tasks, scheduler="threads", num_workers=self.workers)
        return results


class _Bound:
    def __init__(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._work, self._arguments = work, arguments

    def __call__(self) -> Any:
        # Dask keeps this object for a while, and needs no block that is done.
        arguments, self._arguments = self._arguments, ()
        return self._work(*arguments)


class Cluster:
    """The workers of a dask.distributed scheduler; blocks are sent to them and results come back."""

    def __init__(self, client: Any) -> None:
        self._client = client
        threads = client.scheduler_info(n_workers=-1)["workers"].values()
        self.workers = max(1, sum(int(worker["nthreads"]) for worker in threads))

    def map(self, work: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        """Return the results in the order of the calls."""
        futures = [self._client.submit(work, *arguments, pure=False) for arguments in calls]
        results: Sequence[Any] = self._client.gather(futures)
        return results


@contextlib.contextmanager
def crew(scheduler: str | None = None) -> Iterator[Crew]:
    """Find who computes.

    Args:
        scheduler: address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; None for threads.

    Raises:
        StoreError: if dask.distributed is needed and not installed.
        StoreFailure: if the scheduler can't be reached.
    """
    if scheduler is None:
        yield Threads()
        return
    _need("distributed", "distributed")
    distributed: Any = import_module("distributed")
    try:
        client = distributed.Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise StoreFailure(f"No Dask scheduler answers at {scheduler}: {error}.") from error
    with client:
        yield Cluster(client)


def _need(package: str, what: str) -> None:
    if find_spec(package) is None:
        raise StoreError(f"The package {package} is not there: pip install {what!r}.")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
