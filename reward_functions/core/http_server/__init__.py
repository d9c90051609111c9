"""An HTTP server on the standard library, for every server of this project.

messages.py    a request, a reply, a refusal
server.py      HTTP/1.1, bounded in size, time and places
"""
