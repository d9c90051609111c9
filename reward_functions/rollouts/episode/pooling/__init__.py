"""Agents that are used again: a pool for parallel tasks, each of which gets one as new.

pool.py         `AgentPool`: who gets an agent, and who waits for one
resetting.py    how an agent becomes as new
"""
