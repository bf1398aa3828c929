#!/bin/bash
# Builds bin/cellar. Go is all it needs: without a C compiler that works it is
# built without cgo, which runs the same and allocates its caches in Go's heap.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go

flags=(-trimpath -buildvcs=false)
# The commit is written into the binary where git will tell it.
if git rev-parse --verify -q HEAD >/dev/null 2>&1; then
	flags=(-trimpath -buildvcs=true)
fi
if [ -z "${CGO_ENABLED:-}" ] && ! printf '#include <stdlib.h>\n' | "$(go env CC)" -E - >/dev/null 2>&1; then
	export CGO_ENABLED=0
	echo "no C compiler that works: building without cgo" >&2
fi
mkdir -p bin
go build "${flags[@]}" -o bin/cellar ./cmd/cellar
