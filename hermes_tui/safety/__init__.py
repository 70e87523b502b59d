"""What a command would do, and whether a person must be asked."""
