#!/bin/bash
# stop.sh DIR: ends the HBase that start.sh DIR has started.
set -euo pipefail
[ -e "$1/pid" ] || exit 0
pid=$(cat "$1/pid")
kill "$pid" 2>/dev/null || { rm "$1/pid"; exit 0; }
for ((i = 0; i < 300; i++)); do
	kill -0 "$pid" 2>/dev/null || { rm "$1/pid"; exit 0; }
	sleep 0.2
done
echo "oracle: process $pid takes longer than a minute to end; killing it" >&2
kill -9 "$pid"
rm "$1/pid"
