"""This repository's own CDK app: the stages of its `cdk.json`, made by `reward_functions.cdk`."""
