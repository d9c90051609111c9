"""`python -m infra.app`: what the CDK command line runs in this repository.

The stages stand in `cdk.json`, and `reward_functions.cdk` makes each of them a stack. Any other
repository names the installed script `reward-cdk-app` as its app.
"""

from __future__ import annotations

from reward_functions.cdk.app.app import main

if __name__ == "__main__":
    main()
