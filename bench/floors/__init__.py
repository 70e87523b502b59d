"""Small programs that mark what is possible: the least that any program of the kind must cost."""
