# Sourced by the scripts that run Java: the flags of its machine, and ports.

# What HBase takes from inside the JDK, and Java 17 shuts.
java_flags=(--add-modules jdk.unsupported -Djava.net.preferIPv4Stack=true
	-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true)
for inside in java.base/{java.lang,java.lang.reflect,java.nio,java.util,java.util.concurrent,sun.nio.ch,jdk.internal.ref,jdk.internal.util.random}; do
	java_flags+=(--add-opens "$inside=ALL-UNNAMED")
done
for inside in java.base/jdk.internal.misc java.security.jgss/sun.security.krb5; do
	java_flags+=(--add-exports "$inside=ALL-UNNAMED")
done

die() { echo "oracle: $*" >&2; exit 1; }

# need_java says what is missing, if Java 17 or Maven is.
need_java() {
	command -v mvn >/dev/null || die "mvn is not there; install Maven, which fetches HBase's jars"
	command -v javac >/dev/null || die "javac is not there; install a JDK 17"
	local version
	version=$(javac -version 2>&1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	[ "$version" -ge 17 ] || die "javac is of version $version; 17 or later is needed"
}

# listens says whether something does, on a port of the loopback interface.
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_ports N gives a base from which N ports are free.
free_ports() {
	local base try p
	for ((try = 0; try < 100; try++)); do
		base=$((20000 + RANDOM % 10000))
		for ((p = base; p < base + $1; p++)); do
			listens "$p" && continue 2
		done
		echo "$base"
		return
	done
	die "no $1 free ports in a row between 20000 and 30000"
}
