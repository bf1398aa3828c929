#!/bin/bash
# record.sh [FILE...]: asks a real HBase what the scripts in testdata ask, and
# writes its answers into them; no FILE: all. Needs a JDK 17 and Maven, half a
# gigabyte of disk and a gigabyte of memory; it leaves build/ behind, with
# HBase's jars.
# KEEP=DIR keeps HBase running there, and uses it if it runs already: for work
# on the scripts. hbase/stop.sh DIR ends it.
set -euo pipefail
cd "$(dirname "$0")"
. hbase/env.sh
need_java
[ $# -gt 0 ] || set -- testdata/*.txt
lib=$PWD/build/lib classes=$PWD/build/classes

if [ ! -e build/lib.sum ] || ! sha256sum --status -c build/lib.sum; then
	echo "oracle: fetching the jars of HBase" >&2
	rm -rf build/lib
	mvn -q -B -f hbase/pom.xml dependency:copy-dependencies -DoutputDirectory="$lib" -DincludeScope=runtime >&2
	sha256sum hbase/pom.xml >build/lib.sum
fi
rm -rf "$classes"
javac -nowarn -d "$classes" -cp "$lib/*" recorder/*.java

if [ -n "${KEEP:-}" ]; then
	dir=$KEEP
else
	dir=$(mktemp -d)
	trap 'hbase/stop.sh "$dir"; rm -rf "$dir"' EXIT
	trap 'exit 1' INT TERM
fi
[ -e "$dir/pid" ] || hbase/start.sh "$lib" "$dir"
java "${java_flags[@]}" -Xmx512m -cp "$dir/conf:$classes:$lib/*" Recorder "$@"
