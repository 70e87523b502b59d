"""What programs do with their arguments: tables as data, and the few that need code."""
