"""What the notebooks of this repository use.

    here.py            where a notebook runs: on the local AWS emulator or in an account, proven
    tables.py          results, metrics and the catalogue as tables
    plots.py           the rewards of each group, as SVG
    shown.py           what a cell shows: the library's tables, and drawings
    sample_data.py     the demo's responses as rows and as samples
    reading.py         how a reward reads responses
    verdicts.py        the rule behind each verdict of `math`, and what it compared
    exploitable.py     two rewards that can be gamed, to be caught
    constants.py       what one answer to everything earns
    reporting.py       the page of a scored batch, its charts, and a judge's evidence
    scripted.py        a judge with a script in the place of its model
    calibrating.py     a judge beside labels, with a script in the place of its model
    judge_costs.py     what a judge's questions cost, by model
    rubric_judge.py    a judge by a rubric file, from its worked examples to the function
    faithfulness.py    answers over passages, with labels; `scripted_raters.py` decides on them
    training_rows.py   a file of training data: rows, prompt, lint, gold replay
    filings.py         FinQA's questions, golds and units
    compared_pairs.py  pairs like PandaLM's, and reasons with labels
    splits.py          a split by group beside one row by row
    training.py        a job from its plan to its clean-up; `training_shown.py` has its tables
    evaluated.py       base against tuned on held-out rows: pictures, tables, sizes of a split
    sagemaker_steps.py what a job of SageMaker registers, makes and is evaluated by
    open_weight.py     open-weight models by id, the key of their API, one plan beside another
    openai_steps.py    events, figures and checkpoints of a job of the OpenAI-compatible API
    speed.py           base and tuned model asked by turns, and timed
    rollouts.py        an agent's rollouts against a runtime double
    killing.py         an agent's process that is killed, and its outbox
    agents.py          the agents of these rollouts
    trl_calls.py       a batch as TRL has it, and a reward function called as TRL calls it
    tiny_trainer.py    a real `GRPOTrainer` on a tiny model, where TRL is installed

Nothing in `reward_functions` imports these modules, and the wheel does not hold them.
"""
