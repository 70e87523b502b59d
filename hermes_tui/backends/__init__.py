"""Where commands run."""
