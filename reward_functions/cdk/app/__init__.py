"""The app that the CDK starts, and what a stage would be without it.

entry.py      what `"app": "reward-cdk-app"` starts
app.py        reads the context, and makes each stage a stack
flags.json    the feature flags this project was tried with
shell.py      whether the shell points at the AWS that a stage is for
preview.py    what a stage would be, without Node and without a build
schema.py     a JSON Schema of `cdk.json` for editors
"""
