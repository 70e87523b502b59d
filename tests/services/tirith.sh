#!/bin/sh
# Installs the external scanner that tests/unit/safety/test_tirith.py asks. Quick when it is there; without npm it says
# so and ends well: those tests are skipped.
set -eu

folder="${HERMES_TEST_SERVICES:-/var/tmp/hermes-tui-services}/tirith"
version=0.4.2

command -v npm >/dev/null 2>&1 || {
  echo "The tests with Tirith will be skipped: npm is not installed."
  exit 0
}
[ "$(cat "$folder/version" 2>/dev/null || true)" = "$version" ] && exit 0

echo "Installing Tirith for the tests into $folder"
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" "@sheeki03/tirith-linux-x64@$version" || {
  echo "It could not be installed; the tests with it will be skipped."
  exit 0
}
echo "$version" > "$folder/version"
