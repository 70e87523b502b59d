"""What the sub-commands print. Imported only when one runs."""

import logging

# The reports say themselves what failed; without a handler Python would write each warning to stderr once more.
logging.getLogger("hermes_tui").addHandler(logging.NullHandler())
