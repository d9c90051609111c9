"""TensorBoard itself: its own reader reads the files back."""

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from reward_functions.export import Curve, TrackedRun, tracker_of


def test_a_run_is_read_back_as_it_was_sent(tmp_path):
    curves = (Curve("reward/mean", ((1.0, 0.25), (2.0, 0.5))),)
    run = TrackedRun("gsm8k answers", {"reward": "gsm8k"}, {"reward_mean": 0.5}, curves)
    where = tracker_of(f"tensorboard={tmp_path}").send(run)
    assert where == f"tensorboard --logdir {tmp_path}"
    read = EventAccumulator(str(tmp_path / "gsm8k answers"))
    read.Reload()

    def points(tag):
        return [(each.step, each.tensor_proto.float_val[0]) for each in read.Tensors(tag)]

    assert points("reward/mean") == [(1, 0.25), (2, 0.5)]
    assert points("reward_mean") == [(0, 0.5)]
