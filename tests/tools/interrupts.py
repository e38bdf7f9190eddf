"""Ctrl-C for a process, and what it still does then, in CPU seconds: the clock says little on a busy machine."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable

import psutil

#: Nothing here takes as long, however busy the machine is.
PATIENCE_SECONDS = 600.0


def interrupted(running: subprocess.Popen[str], when: Callable[[], bool]) -> tuple[str, str]:
    """What a process says that gets Ctrl-C once something has happened, and then has little left to do.

    Within a second of its own work it must end; the rest is for the end of the interpreter.
    """
    try:
        while not when():
            assert running.poll() is None, running.communicate()
            time.sleep(0.02)
        before = seconds_of(running)
        others = psutil.Process().cpu_times()
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=PATIENCE_SECONDS)
    finally:
        running.kill()
        # Without this, a later test would be blamed for pipes that nobody closed.
        running.communicate()
    own = psutil.Process().cpu_times()
    whole = own.children_user + own.children_system - others.children_user - others.children_system
    assert whole - before < 15.0
    return output, errors


def seconds_of(running: subprocess.Popen[str]) -> float:
    """CPU seconds that a process has used so far."""
    times = psutil.Process(running.pid).cpu_times()
    return times.user + times.system


def at_work(running: subprocess.Popen[str], seconds: float) -> Callable[[], bool]:
    """Whether a process has used so many CPU seconds more than now."""
    before = seconds_of(running)
    return lambda: seconds_of(running) > before + seconds
