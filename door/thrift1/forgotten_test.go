package thrift1

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store/memory"
)

// A thousand clients begin a scan, read a row and are never heard of again, half
// of them with the connection open. When the time-out is over nothing of their
// scanners is left, in the door or in the store.
func TestScannersThatAThousandClientsForget(t *testing.T) {
	const clients = 1000
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Store: memory.New(memory.Options{})}
		d := openDoor(t, Options{Store: f, ScannerTimeout: time.Minute}, door.Options{})
		tenRows(d)
		for i := range clients {
			p := d.dial(forms[i%len(forms)])
			id := p.call("scannerOpenWithScan", fields{1: "t", 2: fields{1: "r1", 6: "PageFilter(3)"}})
			if p.call("scannerGet", fields{1: id}) == nil {
				t.Fatal("no row")
			}
			if i%2 == 0 {
				_ = p.conn.Close()
			}
		}
		s := d.handler.scanners
		left := func() (open, bytes int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.mu.open), s.mu.bytes
		}
		if open, bytes := left(); open != clients || bytes == 0 || f.opened.Load() != clients || f.closed.Load() != 0 {
			t.Fatalf("%d scanners are open, %d bytes noted; the store opened %d and closed %d", open, bytes, f.opened.Load(), f.closed.Load())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if open, bytes := left(); open != 0 || bytes != 0 || f.closed.Load() != clients {
			t.Errorf("%d scanners are left, %d bytes noted; the store closed %d", open, bytes, f.closed.Load())
		}
	})
}
