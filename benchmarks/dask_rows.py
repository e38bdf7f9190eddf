"""Does counting a table larger than memory stay within a gigabyte a worker? Twenty million rows in Parquet parts.

    python -m benchmarks.dask_rows [rows in millions]

Writes the parts to a temporary folder, counts them on two worker processes, scores the distinct rows, and reads the
largest memory that each worker has had from the system. On the first part, which also fits into memory, the scores are
compared with those of the ordinary way.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

PART_ROWS = 1_000_000
COLUMNS = 15
LIMIT_BYTES = 1e9


def main() -> int:
    """Print the figures and whether the limit is kept."""
    from distributed import Client

    from dagpost.data import as_table
    from dagpost.engines import ThreadEngine
    from dagpost.engines.dask import DaskEngine
    from dagpost.engines.dask.cells import scores_of_parts
    from dagpost.engines.dask.cluster import local_cluster
    from dagpost.engines.dask.counting import distinct_rows_of_parts
    from dagpost.scores import local_scores

    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in range(millions):
            rows_of_part(part).to_parquet(folder / f"part-{part:03d}.parquet")
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{millions} million rows of {COLUMNS} columns in {millions} parts: {size / 1e6:.0f} MB of Parquet")
        with local_cluster(2) as local, Client(local) as client:
            engine = DaskEngine(client)
            idle = max(client.run(peak_bytes).values())
            started = time.perf_counter()
            table = distinct_rows_of_parts(folder, engine)
            counted = time.perf_counter()
            scores = local_scores(table, "bdeu", 4, engine=engine)
            scored = time.perf_counter()
            peak = max(client.run(peak_bytes).values())
            print(f"{table.rows:,} distinct rows of {table.observations:,} in {counted - started:.1f} s")
            print(f"{scores!r} in {scored - counted:.1f} s")
            print(f"most memory of a worker: {peak / 1e6:.0f} MB ({idle / 1e6:.0f} MB before it had a task)")
            first = folder / "part-000.parquet"
            alone = local_scores(as_table(pd.read_parquet(first)), "bdeu", 3, engine=ThreadEngine())
            by_rows = local_scores(distinct_rows_of_parts([first], engine), "bdeu", 3, engine=engine)
            by_sets = scores_of_parts([first], engine, "bdeu", 3)
            for what, other in (("distinct rows", by_rows), ("counts for every set", by_sets)):
                difference = np.abs(other.values - alone.values).max() / np.abs(alone.values).max()
                print(f"largest difference of a score on one part, from {what}: {difference:.1e} of the largest score")
    return int(peak > LIMIT_BYTES)


def rows_of_part(part: int) -> pd.DataFrame:
    """Columns of two to four levels, each depending on the one before it."""
    generator = np.random.default_rng(part)
    columns: dict[str, object] = {}
    before = np.zeros(PART_ROWS, dtype=np.int8)
    for column in range(COLUMNS):
        arity = 2 + column % 3
        own = generator.integers(0, arity, PART_ROWS, dtype=np.int8)
        before = np.where(generator.random(PART_ROWS) < 0.85, before % arity, own).astype(np.int8)
        columns[f"v{column}"] = before
    return pd.DataFrame(columns)


def peak_bytes() -> int:
    """The largest memory this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
