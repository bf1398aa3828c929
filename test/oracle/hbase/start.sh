#!/bin/bash
# start.sh LIB DIR: a standalone HBase of the jars in LIB, all of its files in
# DIR; master, region server and ZooKeeper are one process, on loopback. DIR/conf
# is what a client puts in front of its class path, DIR/pid the process.
# HEAP is the size of its heap; default 1g.
set -euo pipefail
cd "$(dirname "$0")"
. ./env.sh
lib=$1 dir=$2
mkdir -p "$dir"/{conf,tmp,log}
# The jars lack the web pages, and the web server insists on their folders.
mkdir -p "$dir"/conf/hbase-webapps/{master,regionserver,static}
base=$(free_ports 5)

property() { printf '  <property><name>%s</name><value>%s</value></property>\n' "$1" "$2"; }
{
	echo '<configuration>'
	property hbase.rootdir "file://$dir/root"
	property hbase.tmp.dir "$dir/tmp"
	property hbase.cluster.distributed false
	property hbase.unsafe.stream.capability.enforce false
	property hbase.localcluster.assign.random.ports false
	property hbase.zookeeper.quorum 127.0.0.1
	property hbase.zookeeper.property.dataDir "$dir/zookeeper"
	property hbase.zookeeper.property.clientPort "$base"
	property hbase.zookeeper.property.admin.enableServer false
	p=$base
	for role in master regionserver; do
		property hbase.$role.hostname localhost
		property hbase.$role.ipc.address 127.0.0.1
		property hbase.$role.port $((++p))
		property hbase.$role.info.bindAddress 127.0.0.1
		property hbase.$role.info.port $((++p))
	done
	echo '</configuration>'
} >"$dir/conf/hbase-site.xml"
cat >"$dir/conf/log4j.properties" <<L
log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File=$dir/log/hbase.log
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{ISO8601} %p [%t] %c{2}: %m%n
L

# The server must not keep what the caller holds open, a lock for example.
(
	for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-" 2>/dev/null || true
	done
	exec java "${java_flags[@]}" -Xms"${HEAP:=1g}" -Xmx"$HEAP" -Djava.io.tmpdir="$dir/tmp" \
		-cp "$dir/conf:$lib/*" org.apache.hadoop.hbase.master.HMaster start \
		>"$dir/log/out" 2>&1 </dev/null
) &
echo $! >"$dir/pid"
for ((i = 0; i < 300; i++)); do
	listens $((base + 3)) && exit 0
	kill -0 "$(cat "$dir/pid")" 2>/dev/null || break
	sleep 0.2
done
tail -n 30 "$dir/log/hbase.log" "$dir/log/out" >&2
die "HBase did not start; its files are in $dir"
