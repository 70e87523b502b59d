"""Sessions and files on disk."""
