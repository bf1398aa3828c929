#!/bin/bash
# Makes the files of a release in dist/: for each build an archive with the
# binary, man pages, completions, a systemd unit and a container file, and
# SHA256SUMS over them. The same commit gives the same bytes with the same Go,
# C compiler, tar and gzip: no dates, no paths.
#
#   cellar_VERSION_linux_ARCH.tar.gz         this machine's ARCH; static, with cgo
#   cellar-nosql_VERSION_linux_ARCH.tar.gz   amd64 and arm64; no C, -tags nosql
#
# VERSION is the tag of the commit, or its hash. A checkout with changes is
# refused: what is released is what the commit says. --dirty lets it pass, to try.
set -euo pipefail
. "$(dirname "$0")/go.sh"
need_go

if ! commit_time=$(git log -1 --format=%ct 2>/dev/null); then
	echo "a release is made of a git checkout, and this is none" >&2
	exit 1
fi
if [ "${1:-}" != --dirty ] && [ -n "$(git status --porcelain)" ]; then
	echo "this checkout has changes that are not committed:" >&2
	git status --short >&2
	exit 1
fi
version=$(git describe --tags --exact-match 2>/dev/null || git rev-parse --short=12 HEAD)
# Man pages are dated by it.
export SOURCE_DATE_EPOCH=$commit_time LC_ALL=C TZ=UTC
umask 022

rm -rf dist
mkdir -p dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build OUT ARCH CGO TAGS [EXTLDFLAGS]
build() {
	GOOS=linux GOARCH=$2 CGO_ENABLED=$3 go build -trimpath -buildvcs=true -tags "$4" \
		-ldflags "-s -w -buildid= ${5:+-extldflags '$5'}" -o "$1" ./cmd/cellar
}

# pack NAME BINARY: the archive of one build.
pack() {
	local dir=$work/$1
	mkdir -p "$dir/data"
	cp "$2" "$dir/cellar"
	cp LICENSE README.md packaging/cellar.yaml packaging/cellar.service packaging/cellar.sysusers packaging/Containerfile "$dir/"
	cp -r "$work/man" "$work/completions" "$dir/"
	chmod -R u=rwX,go=rX "$dir"
	tar -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$commit_time" -cf - "$1" |
		gzip -9n >"dist/$1.tar.gz"
	echo "dist/$1.tar.gz" >&2
}

host=$(go env GOHOSTARCH)
build "$work/static" "$host" 1 netgo,osusergo '-static -Wl,--build-id=none'
# The whole answer is matched: grep -q would leave while it is being written.
case $(readelf -lW "$work/static") in
*INTERP*)
	echo "the binary is not static: $(ldd "$work/static" | tr -s '\n\t ' ' ')" >&2
	exit 1
	;;
*LOAD*) ;;
*)
	echo "readelf says nothing of the binary's segments" >&2
	exit 1
	;;
esac
"$work/static" gen man "$work/man"
mkdir "$work/completions"
"$work/static" completion bash >"$work/completions/cellar.bash"
"$work/static" completion zsh >"$work/completions/_cellar"
"$work/static" completion fish >"$work/completions/cellar.fish"
"$work/static" config check packaging/cellar.yaml >&2

pack "cellar_${version}_linux_$host" "$work/static"
for arch in amd64 arm64; do
	build "$work/nosql" "$arch" 0 nosql
	pack "cellar-nosql_${version}_linux_$arch" "$work/nosql"
done
(cd dist && sha256sum -- *.tar.gz >SHA256SUMS)
echo "dist/SHA256SUMS" >&2
