package thrift1

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/door"
)

// With all of the memory in flight in the hands of large requests, and more of
// them in line, small ones of other connections are answered at once: what a
// connection needs up to door.FreeBytes is not of the budget.
func TestSmallRequestsPassACrowdOfLargeOnes(t *testing.T) {
	for _, f := range forms {
		t.Run(f.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const heavy = 300 << 10
				budget := door.NewBudget(2 << 20)
				d := openDoor(t, Options{}, door.Options{InFlight: budget, RequestTimeout: time.Hour})
				d.table("t", "cf")
				d.put("t", "small cf:a 1 x", "middle cf:a 1 "+strings.Repeat("x", 60_000))
				small := d.dial(f)
				// Each sends its request but for the last byte, and stays.
				var crowd []*peer
				for i := range 30 {
					p := d.dial(f)
					crowd = append(crowd, p)
					in := p.encode("mutateRow", 1, fields{1: "t", 2: fmt.Sprintf("heavy%d", i),
						3: list{fields{2: "cf:a", 3: strings.Repeat("v", heavy)}}})
					// A pipe takes bytes when they are read: those in line are not.
					go func() {
						for len(in) > 1 {
							n, err := p.conn.Write(in[:min(len(in)-1, 4096)])
							if err != nil {
								return
							}
							in = in[n:]
							time.Sleep(time.Millisecond) // it goes on, slowly: it does not stand still
						}
						<-t.Context().Done()
					}()
				}
				time.Sleep(90 * time.Millisecond)
				synctest.Wait()
				if budget.Waiting() == 0 {
					t.Fatalf("nobody waits, with %d of %d bytes taken", budget.Used(), budget.Size())
				}
				began := time.Now()
				for range 50 {
					small.call("getRow", fields{1: "t", 2: "small"})
					small.call("getRow", fields{1: "t", 2: "middle"})
					small.call("mutateRow", fields{1: "t", 2: "r", 3: list{fields{2: "cf:a", 3: "v"}}})
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("small requests waited %v", took)
				}
				if budget.Waiting() == 0 {
					t.Error("nobody waits any more")
				}
				for _, p := range crowd {
					p.conn.Close()
				}
				// They leave one after the other, those too that got memory when
				// they were gone already.
				synctest.Wait()
				if budget.Used() != 0 || budget.Waiting() != 0 {
					t.Errorf("all are gone, and %d bytes are taken, %d wait", budget.Used(), budget.Waiting())
				}
			})
		})
	}
}
