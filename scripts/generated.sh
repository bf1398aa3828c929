#!/bin/bash
# Fails where a file that is made from the code is not what the code makes now.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go
state() { git diff HEAD --binary; git ls-files --others --exclude-standard; }
before=$(state | sha256sum)
go generate ./...
if [ "$(state | sha256sum)" != "$before" ]; then
	echo "go generate has changed files; commit what it makes:" >&2
	git status --short >&2
	exit 1
fi
