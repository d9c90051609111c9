"""Frameworks of agents: the names of `sagemaker.train.rft.adapters`.

strands.py      `wrap_model`
langchain.py    `create_http_client`, `create_async_http_client`, `create_http_clients`
"""
