#!/bin/bash
# Builds the smallest Cellar, without C and with -tags nosql, and sees it work:
# it starts, answers and stops.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go
work=$(mktemp -d)
server=
cleanup() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
CGO_ENABLED=0 go build -buildvcs=false -tags nosql -o "$work/cellar" ./cmd/cellar
# Whole answers are matched: grep -q would leave while they are being written.
case $("$work/cellar" version) in
*'without cgo'*) ;;
*)
	echo "the build has cgo" >&2
	exit 1
	;;
esac
"$work/cellar" config check packaging/cellar.yaml >/dev/null
"$work/cellar" serve --data "$work/data" --memory 512MiB --thrift1-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 2>"$work/log" &
server=$!
# Ready is announced in the folder; a server that ends before that has failed, and
# so has one that does nothing for two minutes.
for ((tries = 0; ; tries++)); do
	[ ! -e "$work/data/cellar.run" ] || break
	if ! kill -0 "$server" 2>/dev/null; then
		cat "$work/log" >&2
		exit 1
	fi
	if [ "$tries" -ge 1200 ]; then
		echo "the server was started two minutes ago, and is not ready; it has logged:" >&2
		cat "$work/log" >&2
		exit 1
	fi
	sleep 0.1
done
status=$("$work/cellar" status --data "$work/data")
case $status in
*'is ready'*) ;;
*)
	echo "the server is not ready: $status" >&2
	exit 1
	;;
esac
"$work/cellar" stop --data "$work/data" >/dev/null
wait "$server" || {
	cat "$work/log" >&2
	exit 1
}
server=
echo "the build without C and SQL works"
