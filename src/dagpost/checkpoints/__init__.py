"""How does a run that was killed resume where it stopped? A folder keeps what it has finished.

A long computation is a sequence of *stages* (local scores, forward table, chains, ...), a stage a sequence of *steps*
(chunks of a table, rounds of chains, blocks of draws), each of which depends on the input and the steps before it
alone. So the arrays as they were after some step are all that is needed to resume, with the same result to the last
bit, whatever the number of threads before and after. Anything is written only between two steps:

    saved = checkpoint.stage("graphs", blocks, lambda block: [what it fills])
    for block in saved:                                    # those that are left; the others have been read
        ...
    for block, result in saved.run(engine, work, blocks):  # the same, several at a time
        ...

`checkpoint.py` decides when to write, `folder.py` knows the files, `kinds.py` keeps the parts of a run apart,
`tracking.py` joins a stage to its progress bar.
`NO_CHECKPOINT` is for an ordinary run: no step is finished yet, and nothing is written.
"""

from __future__ import annotations

from dagpost.checkpoints.checkpoint import Checkpoint, SavedSteps
from dagpost.checkpoints.kinds import NO_CHECKPOINT, CheckpointPart
from dagpost.checkpoints.tracking import Tracking, tracked

__all__ = ["NO_CHECKPOINT", "Checkpoint", "CheckpointPart", "SavedSteps", "Tracking", "tracked"]
