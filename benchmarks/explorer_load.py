"""Does the explorer's server stay quick and small under load? Requests of all kinds, and what they do to its memory.

    python -m benchmarks.explorer_load [--requests 10000] [--clients 8] [--columns 10] [--json]

`dagpost explore` runs as a process of its own. Clients ask, over connections that they keep: views under changing
assumptions, statements, the page, a script; some send what is not a question, more than is allowed, or hang up in the
middle. Printed are the memory of the server (resident, after the first tenth of the requests and at the end), the
median and the 99th percentile of the time to an answer for each kind, and how the requests ended. After the load, 200
requests come at once.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np
import psutil
from benchmarks.explorer_views import frame_of

from dagpost import DagPosterior

SEED, AT_ONCE = 17, 200
_JSON = {"Content-Type": "application/json"}


class Client:
    """Asks one server, over one connection as long as that is kept."""

    def __init__(self, address: SplitResult, names: list[str], seed: int) -> None:
        self._address, self._names = address, names
        self._rng = np.random.default_rng((SEED, seed))
        self._connection = http.client.HTTPConnection("127.0.0.1", address.port or 0, timeout=120)
        self.times: dict[str, list[float]] = defaultdict(list)
        self.ends: Counter[str] = Counter()

    def work(self, requests: int) -> None:
        """Send this many requests of all kinds."""
        kinds: dict[str, tuple[float, Callable[[], int]]] = {
            "view": (0.45, lambda: self.ask("view", {"given": self._assumptions()})),
            "patient view": (0.05, lambda: self.ask("view", {"given": self._assumptions(), "patient": True})),
            "statement": (0.2, lambda: self.ask("ask", {"statement": self._path(), "given": self._assumptions()})),
            "page": (0.05, lambda: self._send("GET", "")),
            "script": (0.1, lambda: self._send("GET", "scripts/graph.js")),
            "nonsense": (0.05, lambda: self._send("POST", "ask/view", b"[" * 5_000, _JSON)),
            "too much": (0.05, lambda: self._send("POST", "ask/view", b" " * 100_000, _JSON)),
            "hangs up": (0.05, self._hang_up),
        }
        chosen = self._rng.choice(list(kinds), requests, p=[share for share, _ in kinds.values()])
        for kind in chosen.tolist():
            begun = time.perf_counter()
            status = kinds[kind][1]()
            self.times[kind].append(time.perf_counter() - begun)
            self.ends[f"{kind} {status}"] += 1

    def _assumptions(self) -> list[str]:
        """One to three edges, most of them never asked for before."""
        order = self._rng.permutation(len(self._names))
        places = [sorted(self._rng.choice(len(order), 2, replace=False)) for _ in range(self._rng.integers(1, 4))]
        return [f"{self._names[order[start]]} -> {self._names[order[end]]}" for start, end in places]

    def _path(self) -> str:
        start, end = self._rng.choice(self._names, 2, replace=False)
        return f"{start} ~> {end}"

    def ask(self, question: str, asked: Any) -> int:
        """The status of the answer to a question; 0 where there is none."""
        return self._send("POST", f"ask/{question}", json.dumps(asked).encode("utf-8"), _JSON)

    def _send(self, method: str, path: str, body: bytes | None = None, headers: Any = None) -> int:
        try:
            self._connection.request(method, self._address.path + path, body, headers or {})
            reply = self._connection.getresponse()
            reply.read()
        except (http.client.HTTPException, OSError):
            # The server may close the connection while a body that is too long is still on its way.
            self._connection.close()
            return 0
        return reply.status

    def _hang_up(self) -> int:
        body = json.dumps({"given": self._assumptions()})
        text = (
            f"POST {self._address.path}ask/view HTTP/1.1\r\nHost: {self._address.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
        with socket.create_connection(("127.0.0.1", self._address.port or 0), timeout=120) as leaving:
            leaving.sendall(text[: self._rng.integers(len(text) // 2, len(text) + 1)].encode("ascii"))
        return 0


def measure(requests: int, clients: int, columns: int) -> dict[str, Any]:
    """Serve a model of some columns, and load it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dagpost"
        table = frame_of(columns)
        DagPosterior(seed=1, progress=False).fit(table).save(path)
        line = [sys.executable, "-m", "dagpost.cli", "explore", str(path), "--no-browser"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            try:
                return loaded(server.pid, urlsplit(found[0]), list(table.columns), requests, clients)
            finally:
                server.terminate()


def loaded(process: int, address: SplitResult, names: list[str], requests: int, clients: int) -> dict[str, Any]:
    """What the load does to the server."""
    memory = psutil.Process(process).memory_info
    asking = [Client(address, names, seed) for seed in range(clients)]
    sizes, begun = [memory().rss], time.perf_counter()
    for _ in range(10):
        together([lambda client=client: client.work(requests // clients // 10) for client in asking])  # type: ignore[misc]
        sizes.append(memory().rss)
    seconds = time.perf_counter() - begun
    crowd = [Client(address, names, 1_000 + seed) for seed in range(AT_ONCE)]
    at_once: list[int] = []
    together([lambda client=client: at_once.append(client.ask("view", {})) for client in crowd])  # type: ignore[misc]
    times: dict[str, list[float]] = defaultdict(list)
    ends: Counter[str] = Counter()
    for client in asking:
        ends += client.ends
        for kind, own in client.times.items():
            times[kind] += own
    return {
        "requests": sum(ends.values()),
        "seconds": round(seconds, 1),
        "megabytes": [round(size / 1e6) for size in sizes],
        "megabytes after 200 at once": round(memory().rss / 1e6),
        "200 at once": dict(sorted(Counter(at_once).items())),
        "milliseconds": {
            kind: [round(1e3 * statistics.median(own), 1), round(1e3 * float(np.quantile(own, 0.99)), 1)]
            for kind, own in sorted(times.items())
        },
        "ends": dict(sorted(ends.items())),
        "threads": psutil.Process(process).num_threads(),
        "open files": psutil.Process(process).num_fds(),
    }


def together(works: list[Callable[[], Any]]) -> None:
    """Do some work in a thread each."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.requests, given.clients, given.columns)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['requests']:,} requests in {found['seconds']} s")
    print("resident memory of the server, in megabytes, at the start and after each tenth:", *found["megabytes"])
    print(
        f"after {AT_ONCE} requests at once: {found['megabytes after 200 at once']}; these ended", found["200 at once"]
    )
    print(f"threads {found['threads']}, open files {found['open files']}")
    for kind, (middle, slow) in found["milliseconds"].items():
        print(f"{kind:14} median {middle:8.1f} ms, 99% {slow:8.1f} ms")
    print("kind and status: how many", json.dumps(found["ends"], indent=1), sep="\n")


if __name__ == "__main__":
    main()
