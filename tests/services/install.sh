#!/bin/sh
# Installs what the service tests need. Debian 12, root; quick when everything is there.
# Without root it says what is missing and ends well: tests that need it are skipped.
set -eu

sh "$(dirname "$0")/mcp.sh"
sh "$(dirname "$0")/tirith.sh"

# command:package
wanted="sudo:sudo visudo:sudo useradd:passwd chpasswd:passwd userdel:passwd setpriv:util-linux /usr/bin/python3:python3-minimal"
wanted="$wanted dockerd:docker.io /bin/bash-static:bash-static /bin/busybox:busybox-static"
wanted="$wanted sshd:openssh-server ssh:openssh-client ssh-keygen:openssh-client"

missing=""
for pair in $wanted; do
  command=${pair%%:*} package=${pair#*:}
  PATH="$PATH:/usr/sbin:/sbin" command -v "$command" >/dev/null 2>&1 && continue
  case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done

[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "Service tests will be skipped. Missing packages:$missing (run 'make services' as root to install them)"
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "Service tests will be skipped. Missing:$missing (no apt-get here; install them by hand)"
  exit 0
fi

echo "Installing for the service tests:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 -- a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || {
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
