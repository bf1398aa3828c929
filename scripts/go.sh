# Sourced by the scripts beside it: finds a Go that is new enough, or says what
# to do. Sets nothing else; the current folder is the repository's afterwards.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

need_go() {
	local want have
	want=$(sed -n 's/^go //p' go.mod)
	if ! command -v go >/dev/null && [ -x /usr/local/go/bin/go ]; then
		PATH=$PATH:/usr/local/go/bin
	fi
	if ! command -v go >/dev/null; then
		echo "Cellar is built with Go $want or newer, and there is no go in PATH." >&2
		echo "Install it from https://go.dev/dl/ and run this again." >&2
		exit 1
	fi
	# A Go of 1.21 or newer fetches the one that go.mod names, if it may.
	have=$(go env GOVERSION 2>/dev/null) || have=$(GOTOOLCHAIN=local go env GOVERSION)
	have=${have#go}
	if [ "$(printf '%s\n%s\n' "$want" "${have%%[!0-9.]*}" | sort -V | head -n 1)" != "$want" ]; then
		echo "Cellar is built with Go $want or newer, and $(command -v go) is $have." >&2
		echo "Install a newer one from https://go.dev/dl/ and run this again." >&2
		exit 1
	fi
}
