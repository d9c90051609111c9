"""Training jobs on Bedrock: planned, checked, started once, watched, explained.

What a job is

    job.py              what every service has: a job, its state, its metrics, its events
    parts.py            what a user writes and a request carries: filters, a network
    configuration.py    what a user asks for, validated; its digest names the job
    naming.py           the name: PREFIX-DIGEST-RUN
    data.py             its files, by their bytes
    tags.py             its tags: which reward, which version, which configuration
    grader.py           its reward, pinned to a version
    rights.py           what it may use beside the stage's bucket and rewards
    models.py           what can be tuned, where, by which API: a dated table
    hyperparameters.py  every range, read from botocore; `advice.py` is what others set
    complaints.py       what is wrong with the file of a job, as one sentence

Before it

    sizes.py            what the data come to, and files that a service would refuse
    account.py          what the account allows the grader
    plan.py             what a job would come to: `planned.py` holds it, `plan_warnings.py` its
                        traps, `plan_sheets.py` its tables and its page
    baseline.py         what the base earns: `asking.py` asks, `model_calls.py` is one answer,
                        `answers.py` keeps them, `scorer.py` scores, `baseline_record.py` is read,
                        `baseline_page.py` is looked at; `asked_model.py` is who is asked
    preflight.py        whether it can teach anything and may run; checks/ has a file a question

Its course

    clients.py          where calls go, and shells that are refused
    places.py           a stage, and the services of its region
    addresses.py        which addresses a key and data may be sent to
    bounded.py          answers to boto3 that end, in time and in size
    token.py            the key of the OpenAI-compatible API
    drivers/            one shape, a file a service: Bedrock's control plane, the OpenAI API
    failures.py         what a service refuses, as a sentence
    preparing.py        files read, grader pinned, request written; `starting.py` starts it once
    lookup.py           one job, or all, whichever service runs it
    watching.py         one observation after the other, until the end
    grader_lines.py     the grader's log of one job: `grader_watching.py` reads it as it grows

What it measured and made

    figures.py          series of points: `grader_figures.py` has the grader's own
    signs.py            how to read them; `drawing.py` makes their charts and page
    beside_deployed.py  what it uses beside what is deployed now
    diagnosing.py       why it failed: `causes.py` is the table, `grader_log.py` what is seen
    hosting.py          tuned models, and the deployments that host them
    leftovers.py        what it left that costs something

boto3 is all that this needs beside the library.
"""
