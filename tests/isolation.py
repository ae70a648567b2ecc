"""A pytest plugin that replays each notebook alone.

Its kernel works in an empty folder, reaches no other machine, and turns a warning of the library
into an error. After the last cell one more test looks at what the notebook leaves behind: no file,
and no more memory than a reader may be expected to have. As no notebook can lean on another one,
they run in any order and beside each other.
"""

from __future__ import annotations

import ast
import inspect
import os
import tempfile
from pathlib import Path

import nbval.plugin
import pytest
from nbval.plugin import IPyNbFile, RunningKernel

MEMORY = 400  # MB, the most that a kernel may have held at any time
MEMORY_WITH_TORCH = 1000


def cut_off():
    """Refuse the network to this process and let no warning of the library pass."""
    import socket
    import warnings

    def refuse(*_, **__):
        raise OSError("a notebook is replayed without a network")

    socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
    warnings.filterwarnings("error", module="markov_transformers")


def memory():
    """Return the most memory that this process ever held, in MB, and whether torch is part of it."""
    import resource
    import sys
    from pathlib import Path

    # Linux's ru_maxrss starts with the size of the process that started this one; VmHWM does not.
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line)
        return int(kilobytes) / 1e3, "torch" in sys.modules
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, "torch" in sys.modules


class IsolatedKernel(RunningKernel):
    """A kernel in an empty folder, cut off from the network."""

    def __init__(self, kernel_name, cwd=None, **options):
        self.folder = tempfile.TemporaryDirectory()
        super().__init__(kernel_name, cwd=self.folder.name, **options)
        self.call(cut_off)

    def call(self, function):
        """Run a function of this file in the kernel, unseen by the notebook, and return its value."""
        source, name = inspect.getsource(function), function.__name__
        expression = f"(lambda space: [exec({source!r}, space), space[{name!r}]()][1])({{}})"
        request = self.kc.execute("", silent=True, user_expressions={"value": expression})
        value = self.kc.get_shell_msg(timeout=60)["content"]["user_expressions"]["value"]
        self.await_idle(request, timeout=60)
        if value["status"] != "ok":
            raise RuntimeError(f"{name}: {value['evalue']}")
        return ast.literal_eval(value["data"]["text/plain"])

    def stop(self):
        super().stop()
        self.folder.cleanup()


class Footprint(pytest.Item):
    """The last test of a notebook: what it leaves behind and what it took."""

    def runtest(self):
        kernel = self.parent.kernel
        assert os.listdir(kernel.folder.name) == [], "the notebook leaves files behind"
        if os.name == "nt":
            pytest.skip("Windows does not tell a process how much memory it held")
        peak, with_torch = kernel.call(memory)
        self.user_properties.append(("memory", f"{peak:4.0f} MB{' with torch' * with_torch}"))
        assert peak < (MEMORY_WITH_TORCH if with_torch else MEMORY), "the notebook takes too much memory"

    def reportinfo(self):
        return self.path, 0, f"{self.path.name}::footprint"


_cells = IPyNbFile.collect


def collect(self):
    """Collect the cells of a notebook, then its footprint."""
    yield from _cells(self)
    yield Footprint.from_parent(self, name="footprint")


def pytest_configure():
    """Put the kernel and the footprint in place."""
    nbval.plugin.RunningKernel = IsolatedKernel
    IPyNbFile.collect = collect


def pytest_terminal_summary(terminalreporter):
    """Tell how much memory each notebook held."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    lines = {
        f"{value}  {Path(report.fspath).name}"
        for report in reports
        for name, value in report.user_properties
        if name == "memory"
    }
    if lines:
        terminalreporter.section("memory of the notebooks at its peak")
        terminalreporter.write_line("\n".join(sorted(lines)))
