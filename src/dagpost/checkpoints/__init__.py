"""How does a run that was killed go on where it stopped? What is finished of it is kept in a folder.

A long computation is a sequence of *stages* (local scores, forward table, chains, ...), a stage a sequence of *steps*
(chunks of a table, rounds of chains, blocks of draws), each of which depends on the input and the steps before it
alone. So the arrays as they were after some step are all that is needed to go on, with the same result to the last bit,
whatever the number of threads before and after. Between two steps is the only place where anything is written:

    saved = checkpoint.stage("graphs", blocks, lambda block: [what it fills])
    for block in saved:                                    # those that are not finished yet; the others have been read
        ...
    for block, result in saved.run(engine, work, blocks):  # the same, several at a time
        ...

`checkpoint.py` says when it is worth writing, `folder.py` what the files look like. `NO_CHECKPOINT` is for an ordinary
run: no step is finished yet and nothing is written.
"""

from __future__ import annotations

from dagpost.checkpoints.checkpoint import NO_CHECKPOINT, Checkpoint, Stage

__all__ = ["NO_CHECKPOINT", "Checkpoint", "Stage"]
