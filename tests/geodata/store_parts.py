"""Sources made by hand for the tests of the store: every number says where it belongs."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Dataset
from zephyrus_geodata.errors import GeodataError
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.understood import EVERY, Kind, Note, Reader, Understood

CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "open")
VARIABLES = ("2m_temperature", "10m_wind_speed", "total_precipitation")


def number(variable: int, init: int, member: Any, cell: Any, step: Any) -> Any:
    """A number of its own for each place in the arrays, exact in float32.

    For up to 3 variables, 3 initial times, 8 members, 1,024 cells and 32 steps.
    """
    return variable * 2.0**15 + init * 2.0**13 + member * 2.0**10 + cell + step * 2.0**-5


def expected(
    variable: int, init: int, cells: NDArray[Any], steps: NDArray[Any], members: int = 0
) -> NDArray[np.float32]:
    """(cell, step) or (member, cell, step) of those numbers."""
    m, c, s = np.meshgrid(np.arange(max(1, members)), cells, steps, indexing="ij")
    values = np.asarray(number(variable, init, m, c, s)).astype(np.float32)
    return values if members else values[0]


class Source:
    """Makes an `Understood` and counts what is read of it."""

    def __init__(
        self,
        *,
        inits: Sequence[str] = ("2020-01-01T00", "2020-01-01T12", "2020-01-02T00"),
        leads: Sequence[int] = (0, 6, 12, 18, 24),
        grid: Grid | None = None,
        members: Sequence[str] = (),
        kind: Kind = "forecast",
        times: Sequence[str] = (),
        variables: Sequence[str] = VARIABLES,
        where: str = "made by hand",
    ) -> None:
        self.grid = grid or Grid(np.arange(-85.0, 90.0, 10.0), np.arange(-180.0, 180.0, 10.0))
        self.inits, self.leads, self.members = tuple(inits), tuple(leads), tuple(members)
        self.times, self.kind, self.variables = tuple(times), kind, tuple(variables)
        self.where = where
        self.reads: list[tuple[str, int, int, int]] = []
        self.largest = 0

    @property
    def understood(self) -> Understood:
        """What the store is given."""
        is_forecast = self.kind == "forecast"
        return Understood(
            kind=self.kind,
            where=self.where,
            format="netcdf4",
            init_times=np.array(self.inits if is_forecast else [], dtype="datetime64[s]"),
            lead_hours=np.array(self.leads if is_forecast else [], dtype=np.int64),
            times=np.array(self.times, dtype="datetime64[s]"),
            members=self.members,
            grid=self.grid,
            variables={name: self._reader(i, name) for i, name in enumerate(self.variables)},
            notes=(Note("converted from °C", "2m_temperature"), Note("made up")),
            attrs={"institution": "nowhere", "nothing": None},
        )

    def _reader(self, index: int, name: str) -> Reader:
        steps = len(self.leads) if self.kind == "forecast" else len(self.times)

        def read(init: int = 0, span: slice = EVERY) -> NDArray[np.float32]:
            first, last, _ = span.indices(steps)
            self.reads.append((name, init, first, last))
            values = expected(
                index,
                init,
                np.arange(self.grid.size),
                np.arange(first, last),
                len(self.members),
            )
            self.largest = max(self.largest, values.nbytes)
            return values

        return read


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path; the manifest without the time it was written."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.parent.name != ".locks":
            data = path.read_bytes()
            if path.name == "dataset.json":
                data = re.sub(rb'"added": "[^"]*"', b"", data)
            found[str(path.relative_to(folder))] = data
    return found


def zephyrus(*arguments: str, status: int = 0, stdin: str = "") -> str:
    """Run the command; return what it says (all of it if it fails)."""
    done = subprocess.run(
        [sys.executable, "-m", "zephyrus", *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        timeout=300,
    )
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


def of_dataset(dataset: Dataset, *, members: int = 0) -> Understood:
    """A source that holds what a dataset holds; member m is m units away from it."""
    forecasts = [dataset.forecast(name) for name in dataset.forecasts]

    def reader(variable: str) -> Any:
        def read(init: int = 0, span: slice = EVERY) -> Any:
            values = forecasts[init].cells(variable)[:, span]
            return np.stack([values + m for m in range(members)]) if members else values

        return read

    first = forecasts[0]
    return Understood(
        kind="forecast",
        where="analytic",
        format="netcdf4",
        init_times=np.array([f.init_time for f in forecasts]),
        lead_hours=first.lead_hours,
        times=np.empty(0, "datetime64[s]"),
        members=tuple(map(str, range(members))),
        grid=first.grid,
        variables={name: reader(name) for name in first.variables},
    )


def in_child(work: Callable[[], Any]) -> int:
    """Run something in a forked process; return its exit status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            work()
            status = 0
        except GeodataError as error:
            os.write(2, str(error).encode())
            status = 2
        finally:
            os._exit(status)
    _, raw = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(raw)


def killed_at(n: int, work: Callable[[], Any]) -> bool:
    """Run something in a process that is killed at its nth step on the disk; whether it was."""

    def run() -> None:
        count = 0

        def hear(event: str, args: tuple[Any, ...]) -> None:
            nonlocal count
            if event not in CHANGES or (event == "open" and not is_for_writing(args)):
                return
            count += 1
            if count == n:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hear)
        work()

    status = in_child(run)
    assert status in (0, -signal.SIGKILL)
    return status != 0


def is_for_writing(args: tuple[Any, ...]) -> bool:
    _, mode, flags = args
    return (mode or "r")[0] in "wax" or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))
