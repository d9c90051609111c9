"""From a CSV to a green preflight: the folder of `reward init`, on the stage that is deployed."""

from __future__ import annotations


def test_a_folder_that_init_wrote_has_a_green_preflight(me):
    rows = "".join(f"What is {at} plus one?,{at + 1}\n" for at in range(130))
    (me.folder / "sums.csv").write_text(f"question,answer\n{rows}")
    me.types("init", "shop", "--data", "sums.csv", "--yes")
    checked = me.job("preflight", "shop/job.toml")
    assert "104 rows in shop/data/train.jsonl" in checked.stdout
    assert "FAILURE" not in checked.stdout
