"""hermes-tui: a full-screen terminal program for working with an AI agent."""

__version__ = "0.1.0"
