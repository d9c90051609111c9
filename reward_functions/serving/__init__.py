"""The edge to AWS Lambda: wire models, settings, telemetry, and the one entry point."""
