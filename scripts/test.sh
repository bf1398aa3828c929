#!/bin/bash
# Installs what the tests need, then runs "make check test". On Debian and
# Ubuntu, as root or with sudo, what is missing is installed with apt-get and
# named; elsewhere it is named only. Go itself must be there.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go

missing=()
need() { # need PACKAGE TEST...: the package is missing where the test fails
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || missing+=("$package")
}
compiles() { printf '#include <stdlib.h>\nint main(void){return 0;}\n' | gcc -x c - -o /dev/null; }
makes_environments() {
	local p
	for p in python3 /usr/bin/python3; do
		"$p" -c 'import ensurepip, venv' && return 0
	done
	return 1
}
need make command -v make
need git command -v git
need gcc command -v gcc # the race detector needs cgo, which needs a C compiler
need libc6-dev compiles
need python3 command -v python3
need python3-venv makes_environments # happybase, the client of the compatibility tests, goes into .venv
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt

if [ ${#missing[@]} -gt 0 ]; then
	root=()
	if [ "$(id -u)" != 0 ]; then
		root=(sudo)
	fi
	if ! command -v apt-get >/dev/null || { [ ${#root[@]} -gt 0 ] && ! command -v sudo >/dev/null; }; then
		echo "the tests need (names of Debian's packages): ${missing[*]}" >&2
		echo "install them and run this again" >&2
		exit 1
	fi
	echo "installing with apt-get: ${missing[*]}" >&2
	"${root[@]}" apt-get update -qq
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi
exec make check test
