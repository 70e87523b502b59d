"""Editing text: pure functions from a file's bytes and a wish to its new bytes. Nothing here touches a disk."""
