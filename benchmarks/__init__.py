"""Speed, scale and reliability, measured: `python -m benchmarks.NAME` from the root of the repository."""
