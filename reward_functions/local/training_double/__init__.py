"""A stand-in for Bedrock's and SageMaker's training, which trains no language model.

    settings.py        the one set of published settings
    forms.py           the forms in which prompts ask for an answer
    tasks.py           what a prompt and its reference come to: answer, kind, form
    wording.py         the sentences that responses are made of
    strategies.py      nine ways to answer, each really written out
    policy.py          a softmax over the strategies for each kind of answer; its update
    spread.py          where each response falls among the strategies
    batches.py         rows as the trainers send them; results read strictly
    training.py        a job: groups, scores, updates, evaluation
    metric_files.py    its metrics in the services' layouts
    plots.py, page.py  a run as pictures, on one page

Around it stands a service on the loopback interface, beside the local AWS emulator: Bedrock's
control plane and Converse, SageMaker's serverless jobs, and the OpenAI-compatible API.
`loopback_service` is what it has in common with the runtime double: the server, its walls, AWS's
protocols.

    identity.py        who asks: the emulator checks the signature
    signatures.py      the one of root, which the emulator does not check
    rights.py          may they: the emulator's policy simulation
    acting.py          a job acts in a copy of its role
    clients.py         of the emulator, kept
    service.py         the parts of the double, and the call that is served
    bases.py           the base models: those of `reward job`'s table
    aws_api.py         the operations: bedrock_jobs.py, bedrock_models.py, converse.py
                       bedrock_imports.py, what SageMaker trained, hosted on Bedrock
                       sagemaker_hub.py, hubs and evaluators; sagemaker_public_hub.py, models and
                       recipes; sagemaker_jobs.py, serverless jobs, with sagemaker_plans.py, what is
                       refused of one, sagemaker_calls.py, sagemaker_rows.py, sagemaker_pay.py,
                       sagemaker_training.py, what the role does, sagemaker_evaluation.py;
                       sagemaker_packages.py, sagemaker_mlflow.py; sagemaker_state.py
    openai_api.py      the operations: openai_jobs.py, openai_files.py, openai_models.py;
    openai_shapes.py   their bodies against tables
    runs.py            a job in its thread; grading.py invokes the deployed version
    job_events.py      its changes of state, brought to the targets of EventBridge's rules
    agent_jobs.py      multi-turn jobs: the operations; agent_schemas.py, their documents' schemas;
                       agent_state.py, what a job is
    agent_runs.py      a job in its thread: rollouts asked of the agent; agent_training.py, the
                       groups and updates; agent_policy.py, what agents sample
    state.py           what was made; prompts.py, datafiles.py: what is known of its data
    control.py         throttling and other accidents, on demand
    server.py          one port for all of it; __main__.py, its process

Every page, table and message that a person reads from it says *simulation*.
"""
