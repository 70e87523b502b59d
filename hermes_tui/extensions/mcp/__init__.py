"""MCP servers: started, kept alive, and their tools put into the registry. ``servers.McpServers`` is the way in."""
