package storetest

import (
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// timestampTests are about the time that a server gives. Those that need the
// rule of ShiftsTimestamps are skipped where it is not claimed.
func timestampTests() []test {
	shifting := []test{
		{"now_is_the_clock", nowIsTheClock},
		{"put_after_a_delete_in_one_millisecond", putAfterDelete},
		{"delete_after_a_put_in_one_millisecond", deleteAfterPut},
		{"put_and_delete_in_turn_in_one_millisecond", putDeleteInTurn},
		{"mixed_mutations_in_one_millisecond", mixedInOneMillisecond},
		{"puts_in_one_millisecond_share_it", putsShareMillisecond},
		{"increments_and_deletes_in_one_millisecond", incrementsAndDeletes},
		{"shift_ends_with_the_millisecond", shiftEnds},
		{"explicit_timestamps_do_not_shift_others", explicitDoNotShift},
		{"clock_that_steps_back_a_little_stands_still", clockStandsStill},
		{"clock_that_steps_back_far_is_followed", clockIsFollowed},
		{"future_cells_do_not_take_the_row_along", futureDoesNotPull},
	}
	tests := []test{
		{"one_for_a_mutation", oneTimestamp},
		{"explicit_ones_are_kept", explicitKept},
		{"in_one_mutation_the_delete_wins_at_now", deleteWinsAtNow},
	}
	for _, c := range shifting {
		tests = append(tests, test{c.name, func(e *env) {
			if !e.s.Capabilities().ShiftsTimestamps {
				e.Skip("the engine does not claim ShiftsTimestamps")
			}
			e.usual()
			c.run(e)
		}})
	}
	return tests
}

func oneTimestamp(e *env) {
	e.usual()
	e.script("put f:a@now=1 & put f:b@now=2 & put g:c@now=3 & inc f:n+1 & app g:l+x & delcol f:z@now & delfam g@5")
	cells := strings.Fields(e.raw("r"))
	if len(cells) != 7 {
		e.Fatalf("stored: %q", cells)
	}
	stamps := map[string]int{}
	for _, c := range cells {
		_, at, _ := strings.Cut(c, "@")
		if i := strings.IndexAny(at, "=!"); i > 0 {
			stamps[at[:i]]++
		}
	}
	if len(stamps) != 2 || stamps["5"] != 1 {
		e.Errorf("timestamps %v, want one for all edits without one", stamps)
	}
}

func explicitKept(e *env) {
	e.usual()
	e.script("put f:a@0=z & put f:a@1=1 & put f:b@9223372036854775806=2 & put g:c@1800000000000=3")
	e.equal(e.all("r"), "f:a@1=1 f:a@0=z f:b@9223372036854775806=2 g:c@now+100000000000=3")
}

func deleteWinsAtNow(e *env) {
	e.usual()
	for _, step := range []string{
		"put f:q@now=v & delcol f:q@now", "delcol f:q@now & put f:q@now=v",
		"put f:q@now=v & delfam f@now", "delrow @now & put f:q@now=v & put g:q@now=w",
		"delver f@now & put f:q@now=v",
	} {
		e.script("tick; " + step)
		if got := e.all("r"); got != "" {
			e.Errorf("%s: got %q", step, got)
		}
	}
	e.script("tick; put f:q@now=v")
	if got := e.get("r"); !strings.HasSuffix(got, "=v") {
		e.Errorf("a later put does not show: %q", got)
	}
}

func nowIsTheClock(e *env) {
	e.script("put f:q@now=a")
	e.clock.Tick(7)
	e.script("put f:q@now=b; delcol f:p@now; put f:q@now=c")
	e.clock.Tick(93)
	e.script("inc f:n+1; delfam g@now")
	e.equal(e.raw("r"), `f:n@now+100=\x00\x00\x00\x00\x00\x00\x00\x01 f:p@now+7!DeleteColumn f:q@now+8=c f:q@now+7=b f:q@now+0=a g:@now+100!DeleteFamily`)
}

// A put that begins after a delete was acknowledged is never lost.
func putAfterDelete(e *env) {
	for i, del := range []string{"del f:q@now", "delcol f:q@now", "delfam f@now", "delver f@now", "delrow @now"} {
		e.clock.Tick(1000)
		e.script(fmt.Sprintf("put f:q@now=a%d; %s; put f:q@now=b%d", i, del, i))
		if got := e.get("r"); !strings.HasSuffix(got, fmt.Sprintf("=b%d", i)) {
			e.Errorf("%s, then a put: got %q", del, got)
		}
		e.clock.Tick(1000)
		e.script(fmt.Sprintf("delrow @now; tick; %s; put f:q@now=c%d", del, i))
		if got := e.get("r"); !strings.HasSuffix(got, fmt.Sprintf("=c%d", i)) {
			e.Errorf("%s on nothing, then a put: got %q", del, got)
		}
	}
}

// A delete that begins after a put was acknowledged always hides it.
func deleteAfterPut(e *env) {
	for _, del := range []string{"delcol f:q@now", "delfam f@now", "delrow @now"} {
		e.clock.Tick(1000)
		// The first delete pushes the put one millisecond ahead of the clock.
		e.script("delrow @now; put f:q@now=a; " + del)
		if got := e.all("r"); got != "" {
			e.Errorf("%s: got %q", del, got)
		}
	}
	e.clock.Tick(1000)
	e.script("delrow @now; put f:q@now=a; delver f@now")
	e.equal(e.all("r"), "")
	e.clock.Tick(1000)
	e.script("put f:q@now=a; del f:q@now; put f:q@now=b; del f:q@now")
	e.equal(e.all("r"), "")
}

// No row runs away from the clock: each pair moves it by one.
func putDeleteInTurn(e *env) {
	for i := range 10 {
		e.script("put f:q@now=a")
		e.equal(e.get("r"), fmt.Sprintf("f:q@now+%d=a", i))
		e.script("delcol f:q@now")
		e.equal(e.get("r"), "")
	}
	e.script("put f:q@now=z")
	e.equal(e.get("r"), "f:q@now+10=z")
}

func mixedInOneMillisecond(e *env) {
	e.script("put f:q@now=a; delcol f:q@now; put f:p@now=b & delcol f:q@now; put f:q@now=c")
	e.equal(e.get("r"), "f:p@now+1=b f:q@now+2=c")
	e.script("put f:q@now=d & delcol f:p@now")
	e.equal(e.get("r"), "f:q@now+2=d")
}

func putsShareMillisecond(e *env) {
	e.script("put f:q@now=a; put f:q@now=b; put g:q@now=c")
	e.equal(e.raw("r"), "f:q@now+0=b g:q@now+0=c")
}

// Increments and appends are puts: a delete hides them, and they are not lost
// behind one.
func incrementsAndDeletes(e *env) {
	e.script("inc f:n+1; inc f:n+1; inc f:n+1; delcol f:n@now")
	e.equal(e.counter(), "")
	if got := e.inc(5); got != 5 {
		e.Errorf("got %d, want 5", got)
	}
	e.equal(e.counter(), "5")
	e.script("app f:a+x; app f:a+y; delfam f@now; app f:a+z")
	if got := e.get("r"); !strings.HasSuffix(got, "=z") {
		e.Errorf("got %q", got)
	}
}

func shiftEnds(e *env) {
	e.script("put f:q@now=a; delcol f:q@now; put f:q@now=b; delcol f:q@now; put f:q@now=c")
	e.equal(e.get("r"), "f:q@now+2=c")
	e.clock.Tick(1000)
	e.script("put f:q@now=d")
	e.equal(e.get("r"), "f:q@now+1000=d")
	e.script("delcol f:q@now")
	e.equal(strings.Split(e.raw("r"), " ")[0], "f:q@now+1000!DeleteColumn")
}

func explicitDoNotShift(e *env) {
	e.script(fmt.Sprintf("delcol f:q@%d; put f:q@now=a", epoch))
	e.equal(e.get("r"), "") // at now, as the marker is
	e.script(fmt.Sprintf("put g:q@%d=x; delcol g:p@now", epoch+500))
	e.equal(e.raw("r"), "f:q@now+0!DeleteColumn f:q@now+0=a g:p@now+0!DeleteColumn g:q@now+500=x")
}

func clockStandsStill(e *env) {
	e.clock.Tick(100_000)
	e.script("put f:q@now=a")
	for _, back := range []int64{1, 1000, 59_999, 60_000} {
		e.clock.Set(epoch + 100_000 - back)
		e.script("put f:q@now=b; put f:b@now=" + fmt.Sprint(back))
		e.equal(e.get("r"), fmt.Sprintf("f:b@now+100000=%d f:q@now+100000=b", back))
	}
	e.clock.Set(epoch + 100_001)
	e.script("put f:q@now=c")
	e.equal(e.get("r", only("f:q")), "f:q@now+100001=c")
}

func clockIsFollowed(e *env) {
	e.clock.Tick(1_000_000)
	e.script("put f:q@now=a")
	e.clock.Set(epoch + 900_000)
	e.script("put f:p@now=b")
	e.equal(e.get("r"), "f:p@now+900000=b f:q@now+1000000=a")
	e.clock.Tick(1)
	e.script("put f:p@now=c")
	e.equal(e.get("r"), "f:p@now+900001=c f:q@now+1000000=a")
}

// A timestamp that follows from a cell which its writer dated ahead of the clock
// does not move what is written at "now" after it.
func futureDoesNotPull(e *env) {
	f, q := column("f:n")
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, epoch+3_600_000, long(1)))
	e.inc(1)
	e.script("del f:n@now; delcol f:x@now; put f:y@now=y")
	e.equal(e.get("r", only("f:y")), "f:y@now+1=y")
	e.equal(e.counter(), "1")
}
