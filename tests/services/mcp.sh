#!/bin/sh
# Installs the two public MCP servers that tests/e2e/test_mcp.py starts. Quick when they are there; without node it
# says so and ends well: those tests are skipped.
set -eu

folder="${HERMES_TEST_SERVICES:-/var/tmp/hermes-tui-services}/mcp"
version=2026.8.31

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "The tests with public MCP servers will be skipped: node and npm are not installed."
  exit 0
fi
[ "$(cat "$folder/version" 2>/dev/null || true)" = "$version" ] && exit 0

echo "Installing two MCP servers for the tests into $folder"
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" \
  "@modelcontextprotocol/server-everything@$version" "@modelcontextprotocol/server-filesystem@$version" || {
  echo "They could not be installed; the tests with them will be skipped."
  exit 0
}
echo "$version" > "$folder/version"
