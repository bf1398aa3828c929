#!/bin/bash
# Makes .venv: a Python environment with the client that test/compat drives, in
# the versions that test/compat/requirements.txt names. Does nothing when it is
# there already.
set -euo pipefail
cd "$(dirname "$0")/.."
want=$(sha256sum <test/compat/requirements.txt)
if [ -x .venv/bin/python ] && [ "$(cat .venv/.made 2>/dev/null)" = "$want" ]; then
	exit 0
fi

# The first Python that can make an environment.
for python in ${PYTHON:-python3 /usr/bin/python3}; do
	if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
		break
	fi
	python=
done
if [ -z "$python" ]; then
	echo "no Python 3 with the modules venv and ensurepip: install python3 and python3-venv" >&2
	exit 1
fi
rm -rf .venv
"$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement test/compat/requirements.txt
.venv/bin/python -c 'import happybase'
echo "$want" >.venv/.made
echo "made .venv with $("$python" --version)" >&2
