"""Readers for code inside commands: Python, SQL, awk, sed and other scripts."""
