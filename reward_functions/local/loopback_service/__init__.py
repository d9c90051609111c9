"""A service of AWS on the loopback interface: what the doubles of this project share.

    requests.py        a request as it came, and its JSON
    server.py          one port: each request is read whole, and answered in a thread of its own
    wire.py            AWS's rest-json protocol, as a server speaks it
    json_wire.py       awsJson 1.1, the same
    signatures.py      SigV4 in a header or in a query: its parts, and whether they are well-formed
    bearer_tokens.py   presigned calls that serve as keys: `bedrock-api-key-…` and its like

`training_double` and `runtime_double` are built of it.
"""
