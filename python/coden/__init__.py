"""Read the runs of coden: snapshots, schedule, predictions and metrics.

`load` opens a run; everything else hangs from the `Run` it returns.
"""

from coden.errors import RunError
from coden.run import Run, load
from coden.sequence import Sequence
from coden.snapshot import Snapshot
from coden.training import Training
from coden.verification import Verification

__all__ = ["Run", "RunError", "Sequence", "Snapshot", "Training", "Verification", "load"]
__version__ = "0.1.0"
