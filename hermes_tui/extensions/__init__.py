"""MCP servers and plugins."""
