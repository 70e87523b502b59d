"""The ways of searching files: ripgrep here, whatever a remote place has, and plain Python."""
