"""A tuned model beside its base, on prompts that no training has seen, by one pinned reward.

Statistics are those of `reports.statistics`.

From a file to a record

    preparing.py            the models, the grader and the split, before anything is asked
    training_files.py       what the job has seen
    split.py                prompts that share nothing with it, each once
    both.py                 both models asked alike; `jobs.asking` asks
    sides.py                one model's answers, scored, and what stands beside the mean
    comparing.py            the difference, its test, pass@k, groups, flips
    evaluation.py           all of it: `evaluate`
    by_service.py           the same of SageMaker's own evaluation jobs
    words.py                the verdict and the warnings as sentences

What is read of it

    evaluation_record.py    `evaluation.json`
    evaluation_sheets.py    its tables; `markdown.py` writes them
    page.py                 one page of HTML
"""
