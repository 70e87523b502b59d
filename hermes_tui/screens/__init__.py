"""One file per screen or modal."""
