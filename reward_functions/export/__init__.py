"""Results where your team looks at them: dataframes, and experiment trackers.

frames.py     rows of results as a pandas dataframe
tracked.py    a run in the words of every tracker: parameters, figures, curves, files
trackers.py   MLflow, Weights & Biases, TensorBoard and Trackio, each by its own package
"""

from reward_functions.export.frames import to_frame
from reward_functions.export.tracked import Curve, TrackedRun, results_run
from reward_functions.export.trackers import Tracker, TrackerFailed, tracker_of

__all__ = [
    "Curve",
    "TrackedRun",
    "Tracker",
    "TrackerFailed",
    "results_run",
    "to_frame",
    "tracker_of",
]
