#!/bin/bash
# Fails when a Go file of this checkout is not formatted by gofmt, and when it
# finds no Go file: then nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
list=$(git ls-files --cached --others --exclude-standard '*.go')
files=()
while IFS= read -r file; do
	# A file that is deleted and not committed yet is still in the list.
	if [ -f "$file" ]; then files+=("$file"); fi
done <<<"$list"
if [ "${#files[@]}" = 0 ]; then
	echo "git lists no Go files: nothing was checked" >&2
	exit 1
fi
bad=$(printf '%s\0' "${files[@]}" | xargs -0 gofmt -l)
if [ -n "$bad" ]; then
	printf 'not formatted by gofmt:\n%s\n' "$bad" >&2
	exit 1
fi
