"""Benchmarks: run by hand and, in a short form, by the tests."""
