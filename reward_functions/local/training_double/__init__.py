"""A stand-in for Bedrock's and SageMaker's training, which trains no language model.

    strategies.py      what a prompt and its reference come to, and nine ways to answer, each really
                       written out; wording.toml, the sentences
    policy.py          a softmax over the strategies for each kind of answer; its update; the
                       published settings; the policy that agents sample
    prompts.py         training files, which row a prompt is of, and where its responses fall among
                       the strategies
    training.py        the course of a job: groups, scores, updates, evaluation; rows as the
                       trainers send them, results read strictly
    page.py            a run as pictures, on one page; its metrics in the services' layouts

Around it stands a service on the loopback interface, beside the local AWS emulator: Bedrock's
control plane and Converse, SageMaker's jobs, and the OpenAI-compatible API. It serves what the
product, the helpers and the notebooks call, and nothing else; a test holds that. `loopback_service`
is what it has in common with the runtime double: the server, signatures, AWS's protocols.

    identity.py        who asks: the emulator checks the signature, or root's is made again
    rights.py          may they: the emulator's policy simulation; a job acts in a copy of its role
    service.py         the parts of the double, the call that is served, and what is made of a kind
    jobs.py            what was made; a job of any API, from its start to its end, in its thread
    bedrock.py         customization jobs, models, deployments, imports, Converse
    sagemaker.py       serverless jobs, evaluations, model packages
    hub.py             hubs and evaluators; hub.toml, the public hub's models and recipes
    mlflow.py          the app of an account, and the runs of its jobs
    agent_rft.py       multi-turn jobs: rollouts are asked of the agent; agent_rft.json, the schema
                       of their documents
    openai_api.py      files, fine-tuning jobs, chat completions
    server.py          one port for all of it, with throttling and other accidents on demand
    __main__.py        its process

Every page, table and message that a person reads from it says *simulation*.
"""
