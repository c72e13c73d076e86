"""One measured run: a child process with its CPU, wall time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Run:
    """What one child process cost: seconds of CPU (user + system), of wall, and its peak memory in MB."""

    cpu: float
    wall: float
    peak: float
    out: str

    def __str__(self) -> str:
        return f"cpu {self.cpu:8.2f} s   wall {self.wall:8.2f} s   peak {self.peak:7.0f} MB"


def run(command: Sequence[str], env: Mapping[str, str] | None = None, repeat: int = 1) -> Run:
    """The fastest (by CPU) of `repeat` runs of a command; a failing command stops the benchmark."""
    return min((_once(command, env) for _ in range(repeat)), key=lambda found: found.cpu)


def _once(command: Sequence[str], env: Mapping[str, str] | None) -> Run:
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, cwd=ROOT
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf8", "replace")
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{text[-2000:]}")
    return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, text)


def python(code: str, *arguments: str, repeat: int = 1, interpreter: str = sys.executable) -> Run:
    """A measured run of Python code."""
    return run([interpreter, "-c", code, *arguments], repeat=repeat)


def cli(*arguments: str, env: Mapping[str, str] | None = None, repeat: int = 1) -> Run:
    """A measured run of the sfumato command of this environment."""
    return run([os.path.join(os.path.dirname(sys.executable), "sfumato"), *arguments], env=env, repeat=repeat)
