"""Benchmarks: this suite against what users would otherwise run, timed side by side."""
