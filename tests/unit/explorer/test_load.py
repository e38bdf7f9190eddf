"""Memory stays bounded over 10,000 requests; benchmarks/explorer_load.py does the same to a server in a process."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from tests.tools.asgi import PORT, TOKEN, ask, behind_token, run, send

from dagpost import DagPosterior
from dagpost.explorer.application import application
from dagpost.explorer.desk import Desk
from dagpost.explorer.page import assets_of
from dagpost.explorer.session import Session

REQUESTS, WARM = 10_000, 2_000
#: Twenty times less than if each request left its answer behind.
MOST_GROWTH = 60e6


@pytest.mark.long
def test_ten_thousand_requests_leave_nothing_behind() -> None:
    rng = np.random.default_rng(1)
    names = list("ABCD")
    frame = pd.DataFrame(rng.integers(0, 2, (80, len(names))), columns=names)
    session = Session(DagPosterior(score="bdeu", samples=100, seed=1, threads=1).fit(frame).fitted_, "load")
    desk = Desk(session)
    app = application(desk, assets_of(session), TOKEN, PORT)
    memory = psutil.Process().memory_info

    async def one(number: int) -> int:
        start, middle, end = rng.permutation(names)[:3]
        asked: dict[str, Any] = {"given": [f"{start} -> {middle}", f"{middle} -> {end}"], "patient": number % 5 == 0}
        if number % 10 == 0:
            return (await send(app, "GET", behind_token(""))).status
        if number % 10 == 1:
            headers = {"content-type": "application/json"}
            return (await send(app, "POST", behind_token("ask/view"), headers=headers, body=b"[" * 60_000)).status
        if number % 10 == 2:
            gone = asyncio.Event()
            asyncio.get_running_loop().call_soon(gone.set)
            return (await ask(app, "view", asked, gone=gone)).status
        return (await ask(app, "view", asked)).status

    async def story() -> tuple[set[int], int, int]:
        seen = {await one(number) for number in range(WARM)}
        before = memory().rss
        for first in range(WARM, REQUESTS, 20):
            seen.update(await asyncio.gather(*map(one, range(first, first + 20))))
        return seen, before, memory().rss

    seen, before, after = run(story())
    desk.close()
    assert seen <= {200, 400, 499}
    assert {200, 400} <= seen
    assert after - before < MOST_GROWTH
