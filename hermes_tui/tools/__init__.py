"""The tools: the registry and one file per toolset; each registers itself at import."""
