"""Finding the name that somebody meant."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name most like ``name``, or "" where none is near."""
    folded = {one.lower(): one for one in sorted(known, reverse=True)}
    matches = difflib.get_close_matches(name.lower(), sorted(folded), n=1, cutoff=0.5)
    return folded[matches[0]] if matches else ""
