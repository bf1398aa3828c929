package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cellardb/cellar/server"
)

// says runs a script on a new server, of each engine, and compares what is
// printed, errors too.
func says(t *testing.T, script, want string) {
	t.Helper()
	for _, engine := range []string{server.EngineMemory, server.EnginePebble} {
		s := serving(t, engine)
		var out bytes.Buffer
		Run(t.Context(), []string{"shell", "-q", "--addr", s.Addresses()[server.DoorThrift1], "--http", s.Addresses()[server.DoorHTTP]}, strings.NewReader(script), &out, &out)
		if got := strings.TrimPrefix(out.String(), "Created table t\n"); got != want {
			t.Errorf("%s: prints\n%s\nwant\n%s", engine, got, want)
		}
	}
}

// Prefixes of bytes above 127, forward and reversed. The gateway leaves out the
// row that is the prefix itself when the scan is reversed; the shell does not.
func TestC02_binaryPrefixes(t *testing.T) {
	setup := "create 't', 'f'\n"
	for _, key := range []string{`\x7f\x01`, `\x80\x00`, `\x80\xff`, `\x81`, `\xff`, `\xff\x00`, `\xff\xff`} {
		setup += `put 't', "` + key + `", 'f:', '', 1` + "\n"
	}
	rows := func(keys ...string) string {
		var b strings.Builder
		b.WriteString("ROW                        COLUMN+CELL\n")
		for _, k := range keys {
			b.WriteString(" " + k + strings.Repeat(" ", 26-len(k)) + "column=f:, timestamp=1970-01-01T00:00:00.001, value=\n")
		}
		b.WriteString(string(rune('0'+len(keys))) + " row(s)\n")
		return b.String()
	}
	says(t, setup+`scan 't', {ROWPREFIXFILTER => "\x80"}
scan 't', {ROWPREFIXFILTER => "\xff"}
scan 't', {ROWPREFIXFILTER => "\x7f"}
scan 't', {ROWPREFIXFILTER => "\x80", REVERSED => true}
scan 't', {ROWPREFIXFILTER => "\xff", REVERSED => true}
scan 't', {STARTROW => "\x81", STOPROW => "\x80", REVERSED => true}
`, rows(`\x80\x00`, `\x80\xFF`)+rows(`\xFF`, `\xFF\x00`, `\xFF\xFF`)+rows(`\x7F\x01`)+
		rows(`\x80\xFF`, `\x80\x00`)+rows(`\xFF\xFF`, `\xFF\x00`, `\xFF`)+rows(`\x81`, `\x80\xFF`, `\x80\x00`))
}

func TestC07_counters(t *testing.T) {
	says(t, `create 't', 'c'
put 't', 'r', 'c:n', '1', 1
incr 't', 'r', 'c:n'
get_counter 't', 'r', 'c:n'
get 't', 'r', 'c:n'
incr 't', 'r', 'c:a', 5
incr 't', 'r', 'c:a', -7
put 't', 'r', 'c:m', "\x7f\xff\xff\xff\xff\xff\xff\xff"
incr 't', 'r', 'c:m', 1
incr 't', 'r', 'c:z', 0
incr 't', 'r', 'c:a', -9223372036854775808
incr 't', 'r', 'c:a', 9223372036854775808
`, `stdin:3: ERROR: DoNotRetryIOException: Field is not a long, it's 1 bytes wide
stdin:4: ERROR: c:n of row r is no counter: it has 1 bytes, not 8
COLUMN                     CELL
 c:n                       timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
COUNTER VALUE = 5
COUNTER VALUE = -2
COUNTER VALUE = -9223372036854775808
COUNTER VALUE = 0
COUNTER VALUE = 9223372036854775806
stdin:12: ERROR: column 23: 9223372036854775808 is more than 64 bits hold
cellar: statements failed
`)
}

// A filter that cannot be read is refused here, with its place; nothing is
// sent, so that no gateway closes the connection.
func TestC14_malformedFilters(t *testing.T) {
	says(t, `create 't', 'f'
put 't', 'ab', 'f:q', 'v', 1
put 't', 'b', 'f:q', 'v', 1
scan 't', {FILTER => "RowFilter(RegexStringComparator, '^a')"}
scan 't', {FILTER => "NoSuchFilter('x')"}
scan 't', {FILTER => "PrefixFilter('a'"}
scan 't', {FILTER => "RowFilter(=, 'regexstring:^a')"}
scan 't', {FILTER => "KeyOnlyFilter() AND FirstKeyOnlyFilter()", LIMIT => 1}
`, `stdin:4: ERROR: column 22: FILTER: filter text, byte 10: RowFilter: argument 1 must be one of < <= = != > >=, not RegexStringComparator; filters are written as in "PrefixFilter('r')"
For usage try: help 'scan'
stdin:5: ERROR: column 22: FILTER: filter text, byte 0: filter name NoSuchFilter is not supported; filters are written as in "PrefixFilter('r')"
For usage try: help 'scan'
stdin:6: ERROR: column 22: FILTER: filter text, byte 0: the parenthesis of this filter is not closed: PrefixFilter('a'; filters are written as in "PrefixFilter('r')"
For usage try: help 'scan'
ROW                        COLUMN+CELL
 ab                        column=f:q, timestamp=1970-01-01T00:00:00.001, value=v
1 row(s)
ROW                        COLUMN+CELL
 ab                        column=f:q, timestamp=1970-01-01T00:00:00.001, value=
1 row(s)
cellar: statements failed
`)
}

func TestC16_wrongCaseAndUnknownNamespace(t *testing.T) {
	says(t, `create 't', 'ips'
put 't', 'r', 'ips:a', '1', 1
put 't', 'r', 'IPS:a', '1', 1
get 't', 'r'
disable 'nope'
drop 'nope'
`, `stdin:3: ERROR: RetriesExhaustedWithDetailsException: Failed 1 action: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family IPS does not exist in table 't': 1 time, servers with issues: null
COLUMN                     CELL
 ips:a                     timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
stdin:5: ERROR: TableNotFoundException: nope
stdin:6: ERROR: TableNotFoundException: nope
cellar: statements failed
`)
	s := serving(t, server.EnginePebble)
	for statement, want := range map[string]string{"create 'nosuch:t', 'f'": "namespace not found", "create 't', 'f'; create 't', 'f'": "table exists already"} {
		var out bytes.Buffer
		args := []string{"shell", "--addr", s.Addresses()[server.DoorThrift1], "--http", s.Addresses()[server.DoorHTTP], "-e", statement}
		if code := Run(t.Context(), args, strings.NewReader(""), &out, &out); code != exitFailed || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d %s", statement, code, &out)
		}
	}
}

// All behind the first colon is the qualifier, unless its end is the name of a
// converter; no qualifier is one too, and so is an empty value.
func TestC17_colonsAndEmptyQualifiers(t *testing.T) {
	says(t, `create 't', 'cf'
put 't', 'r', 'cf:a:b:c', '1', 1
put 't', 'r', 'cf:', '', 1
get 't', 'r'
get 't', 'r', 'cf:'
get 't', 'r', 'cf:a:b:c'
get 't', 'r', 'cf'
get 't', 'r', 'cf:a:b:c:toString'
`, `COLUMN                     CELL
 cf:                       timestamp=1970-01-01T00:00:00.001, value=
 cf:a:b:c                  timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
COLUMN                     CELL
 cf:                       timestamp=1970-01-01T00:00:00.001, value=
1 row(s)
COLUMN                     CELL
 cf:a:b:c                  timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
COLUMN                     CELL
 cf:                       timestamp=1970-01-01T00:00:00.001, value=
 cf:a:b:c                  timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
COLUMN                     CELL
 cf:a:b:c                  timestamp=1970-01-01T00:00:00.001, value=1
1 row(s)
`)
}

// A delete of one version out of several is refused, since Thrift 1 would take
// the older ones too; all up to one go.
func TestC28_deletesThatCarryATimestamp(t *testing.T) {
	says(t, `create 't', {NAME => 'f', VERSIONS => 5}
put 't', 'r', 'f:q', '10', 10
put 't', 'r', 'f:q', '20', 20
put 't', 'r', 'f:q', '30', 30
delete 't', 'r', 'f:q', 20
get 't', 'r', {VERSIONS => 5}
deleteall 't', 'r', 'f:q', 20
get 't', 'r', {VERSIONS => 5}
delete 't', 'r', 'f:q'
get 't', 'r', {VERSIONS => 5}
put 't', 's', 'f:a', '10', 10
put 't', 's', 'f:b', '30', 30
deleteall 't', 's', '', 20
get 't', 's'
deleteall 't', 's', 'f', 30
get 't', 's'
`, `stdin:5: ERROR: f:q of row r has versions older than 20, and Thrift 1 can delete that one only together with them: deleteall deletes all of them
COLUMN                     CELL
 f:q                       timestamp=1970-01-01T00:00:00.030, value=30
 f:q                       timestamp=1970-01-01T00:00:00.020, value=20
 f:q                       timestamp=1970-01-01T00:00:00.010, value=10
1 row(s)
COLUMN                     CELL
 f:q                       timestamp=1970-01-01T00:00:00.030, value=30
1 row(s)
COLUMN                     CELL
0 row(s)
COLUMN                     CELL
 f:b                       timestamp=1970-01-01T00:00:00.030, value=30
1 row(s)
COLUMN                     CELL
0 row(s)
cellar: statements failed
`)
}

func TestC29_limitDoesNotCountDeletedRows(t *testing.T) {
	two := func(keys ...string) string {
		out := "ROW                        COLUMN+CELL\n"
		for _, k := range keys {
			out += " " + k + "                        column=f:q, timestamp=1970-01-01T00:00:00.001, value=v\n"
		}
		return out + string(rune('0'+len(keys))) + " row(s)\n"
	}
	says(t, `create 't', 'f'
put 't', 'r1', 'f:q', 'v', 1
put 't', 'r2', 'f:q', 'v', 1
put 't', 'r3', 'f:q', 'v', 1
scan 't', {LIMIT => 2}
deleteall 't', 'r1'
scan 't', {LIMIT => 2}
deleteall 't', 'r2'
scan 't', {LIMIT => 2}
`, two("r1", "r2")+two("r2", "r3")+two("r3"))
}
