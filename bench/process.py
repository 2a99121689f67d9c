"""``nodewright run`` as its own process, and what the system says about it."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Self

#: It ends by itself if no process is left to stop it.
_PROGRAM = "import signal, sys; signal.alarm({seconds}); from nodewright.__main__ import program; program()"
_MOST_SECONDS = 1200
_TICKS = os.sysconf("SC_CLK_TCK")


class Process:
    """Runs during the ``with`` block; afterwards its output is in *told*. Linux only."""

    def __init__(self, configuration: Path, kubeconfig: Path, environment: Mapping[str, str] | None = None) -> None:
        program = _PROGRAM.format(seconds=_MOST_SECONDS)
        words = ["run", "--config", str(configuration), "--kubeconfig", str(kubeconfig)]
        self._command = [sys.executable, "-c", program, *words]
        self._environment = {**os.environ, **(environment or {})}
        self._log = configuration.with_name("log")
        self.told = ""

    def __enter__(self) -> Self:
        self.began = monotonic()
        with self._log.open("w") as log:
            self._process = subprocess.Popen(self._command, stderr=log, stdout=log, env=self._environment)
        return self

    def __exit__(self, *error: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.told = self._log.read_text()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it is running."""
        return self._process.poll() is None

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all its threads so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def peak(self) -> int:
        """The peak resident memory, in bytes."""
        return self._memory("VmHWM")

    @property
    def memory(self) -> int:
        """The resident memory, in bytes."""
        return self._memory("VmRSS")

    @property
    def proportional(self) -> int:
        """The resident memory, in bytes, with pages that processes share divided among them."""
        return self._memory("Pss", "smaps_rollup")

    def _memory(self, name: str, file: str = "status") -> int:
        lines = Path(f"/proc/{self.pid}/{file}").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
