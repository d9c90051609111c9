"""A service of AWS on the loopback interface: what the doubles of this project share.

    server.py     one port, its requests and refusals: each is read whole, in a thread of its own
    wire.py       AWS's rest-json and awsJson 1.1 protocols, as a server speaks them
    signing.py    SigV4, and presigned calls that serve as keys: `bedrock-api-key-…` and its like

`training_double` and `runtime_double` are built of it.
"""
