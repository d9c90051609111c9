"""What the notebooks of this repository use.

    here.py            where a notebook runs: on the local AWS emulator or in an account, proven
    shown.py           what a cell shows: the library's tables, and drawings
    sample_data.py     the demo's responses as rows and as samples
    reading.py         how a reward reads responses
    rubric_judge.py    a judge by a rubric file, from its worked examples to the function
    faithfulness.py    answers over passages and pairs, with labels, and scripts that decide on them
    training_rows.py   a file of training data: rows, prompt, lint, gold replay
    training.py        a job from its plan to its clean-up, and its tables
    evaluated.py       base against tuned on held-out rows: pictures, tables, sizes of a split
    job_steps.py       what one service says of a job beside its state: events, figures, packages
    speed.py           base and tuned model asked by turns, and timed
    rollouts.py        an agent's rollouts against a runtime double
    agents.py          the agents of these rollouts
    tiny_trainer.py    a real `GRPOTrainer` on a tiny model, where TRL is installed

Nothing in `reward_functions` imports these modules, and the wheel does not hold them.
"""
