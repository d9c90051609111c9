"""A tuned model beside its base, on prompts that no training has seen, by one pinned reward.

preparing.py            the models, the grader, what the job has seen, the split; before asking
evaluation.py           both models asked, scored and compared; what it comes to, in sentences
by_service.py           the same of SageMaker's own evaluation jobs
evaluation_record.py    `evaluation.json`
page.py                 its tables, in Markdown, and one page of HTML

Statistics are those of `reports.statistics`.
"""
