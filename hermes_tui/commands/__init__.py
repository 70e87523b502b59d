"""What the sub-commands print. Imported only when one runs."""
