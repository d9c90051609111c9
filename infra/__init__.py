"""The deployment: AWS CDK constructs that put reward functions into an account."""
