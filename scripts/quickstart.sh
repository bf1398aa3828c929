#!/bin/bash
# Builds Cellar and shows its main job on real data: a server starts, weather
# readings and the published records go in through the Thrift door and come back.
# Needs Go. All arguments go to "cellar quickstart"; try --help.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go
echo "building bin/cellar (the first time it takes a few minutes: libraries are fetched and compiled)" >&2
scripts/build.sh
exec bin/cellar quickstart "$@"
