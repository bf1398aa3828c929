#!/bin/bash
# Lists the cases of test/cases.txt that no test has in its name; the status is
# 1 when there are some.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=0
while read -r id door what; do
	case $id in '#'* | '') continue ;; esac
	# In Go a test's or subtest's name; in Python the name of a check.
	if ! grep -rqE --include='*_test.go' --include='*.py' --include='*.txtar' --include='*.txt' --exclude=cases.txt "(Test|[\"'_/ ]|^)${id}[_ \"':]" .  --exclude-dir=.git --exclude-dir=.venv; then
		echo "$id $door: $what"
		missing=$((missing + 1))
	fi
done <test/cases.txt
if [ "$missing" -gt 0 ]; then
	echo "$missing cases have no test" >&2
	exit 1
fi
echo "every case has a test"
