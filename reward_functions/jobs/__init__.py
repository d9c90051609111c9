"""Training jobs on AWS: planned, checked, started once, watched, explained.

What a job is

    services.py         the services that run jobs, a row each of `services.toml`
    job.py              what every service has: a job, its state, its metrics, its events
    configuration.py    what a user asks for, validated, and what is wrong with it as one sentence;
                        its digest names the job
    data.py             its files, by their bytes; what they come to, and those that a service would
                        refuse; the rows of a multi-turn job
    tags.py             its tags: which reward, which version, which configuration
    grader.py           its reward, pinned to a version; what the account allows it; the version
                        that scores before the job
    models.py           what can be tuned, where, by which API: a dated table
    hyperparameters.py  every range of every service, and what others set
    options.py          which service has a place for which field, what a stage grants its jobs,
                        and what they name: ARNs of resources and of agents
    recipes.py          of SageMaker's hub, and lines for Nova's, with the reward in them

Before it

    plan.py             what a job would come to, and its traps: `plan_sheets.py` has its
                        tables and its page
    baseline.py         what the base earns; `asking.py` asks it and keeps the answers
    preflight.py        whether it can teach anything and may run: a table of questions, of which
                        `role_checks.py` has the role's and `reward_checks.py` the version's

Its course

    clients.py          where calls go, and shells that are refused; the key of the
                        OpenAI-compatible API
    drivers/            one shape, a file a service: Bedrock's control plane, the OpenAI API,
                        SageMaker's serverless customization
    evaluators.py       how SageMaker knows a reward: versions in the account's own hub
    preparing.py        files read, grader pinned, request written; `starting.py` starts it once
    lookup.py           one job, or all, whichever service runs it
    watching.py         one observation after the other, until the end
    grader_log.py       the grader's log of one job: its figures by minute, errors, endings

Its figures and its models

    figures.py          series of points, how to read them, their charts: `grader_log.py` has the
                        grader's own
    page.py             the page of a job; `wording.py` has progress and times in words
    beside_deployed.py  what it uses beside what is deployed now
    evaluation_jobs.py  evaluations by SageMaker with the same function
    diagnosing.py       why it failed: `causes.py` is the table of causes
    hosting.py          tuned models, model packages of SageMaker, and what hosts them
    leftovers.py        what it left that costs something
    evaluation/         a tuned model beside its base, prompt by prompt

boto3 is all that this needs beside the library.
"""
