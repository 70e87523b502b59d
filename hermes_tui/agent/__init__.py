"""The agent loop. Knows no screen."""
