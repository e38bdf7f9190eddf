"""One case in this process: run it, and put into words what went wrong."""

from __future__ import annotations

import re
import shutil
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torture.campaign import Campaign, Defect
from torture.choices import recorded, replay

_DETAIL = re.compile(r"['\"`].*['\"`]|[-+]?\d[\w.+-]*")


@dataclass(frozen=True)
class Finding:
    """A case in which a law was broken."""

    campaign: str
    seed: int
    kind: str
    text: str
    choices: tuple[int, ...] | None = None
    smaller: bool = False

    @property
    def command(self) -> str:
        """What to type to see it again."""
        chosen = f" --choices {','.join(map(str, self.choices))}" if self.smaller and self.choices is not None else ""
        return f"python -m torture --only {self.campaign} --case {self.seed}{chosen}"


@dataclass(frozen=True)
class Outcome:
    """What came of a case: how many checks held, or what was found."""

    checks: int
    finding: Finding | None = None


def run_one(campaign: Campaign, seed: int, choices: Sequence[int] | None = None, place: Path | None = None) -> Outcome:
    """Run one case, with the choices given or its own random ones, in an empty folder below `place`."""
    folder = Path(tempfile.mkdtemp(prefix="torture-", dir=place))
    replay(seed, choices)
    try:
        return Outcome(campaign.run_case(seed, folder))
    except Defect as defect:
        text = str(defect)
        kind = _DETAIL.sub("#", text.partition("\n")[0])
    except Exception as error:  # noqa: BLE001
        text = "".join(traceback.format_exception(error))
        kind = f"{type(error).__name__} at {_site(error)}"
        text = f"An exception that nobody expected: {kind}\n{text}"
    finally:
        replay(seed, None)
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(0, Finding(campaign.name, seed, kind, text, recorded(seed), choices is not None))


def _site(error: BaseException) -> str:
    """Where an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
