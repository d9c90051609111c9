"""What a judge needs before it is trusted: its models found, probed, attacked, and paid for."""
