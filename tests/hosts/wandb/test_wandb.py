"""Weights & Biases itself, offline: the file of the run is read back by its own messages."""

import json

from wandb.proto import wandb_internal_pb2

from reward_functions.export import Curve, TrackedRun, tracker_of

BLOCK = 32_768
"""Bytes: a run's file is a LevelDB log in such blocks, after seven bytes of its own."""


def records(folder):
    """The records that the file of an offline run holds."""
    (path,) = folder.rglob("*.wandb")
    data, at, part, found = path.read_bytes(), 7, b"", []
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:  # the rest of a block is padding
            at += BLOCK - at % BLOCK
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in {1, 4}:  # a whole record, or the last part of one
            found.append(wandb_internal_pb2.Record.FromString(part))
            part = b""
    return found


def test_a_run_is_kept_offline_as_it_was_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    curves = (Curve("reward/mean", ((1.0, 0.25), (2.0, 0.5))),)
    run = TrackedRun("gsm8k answers", {"reward": "gsm8k"}, {"reward_mean": 0.5}, curves)
    where = tracker_of("wandb=team").send(run)
    assert "offline-run" in where
    found = records(tmp_path)
    (begun,) = [each.run for each in found if each.WhichOneof("record_type") == "run"]
    assert (begun.project, begun.display_name) == ("team", "gsm8k answers")
    points = [
        {item.nested_key[0] if item.nested_key else item.key: item.value_json for item in row.item}
        for row in (each.history for each in found if each.WhichOneof("record_type") == "history")
    ]
    assert [float(point["reward/mean"]) for point in points] == [0.25, 0.5]
    summary = {
        (item.nested_key[0] if item.nested_key else item.key): json.loads(item.value_json)
        for each in found
        if each.WhichOneof("record_type") == "summary"
        for item in each.summary.update
    }
    assert summary["reward_mean"] == 0.5
