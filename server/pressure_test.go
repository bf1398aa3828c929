package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cellardb/cellar/door/ops"
)

// embedded is a server with the embedded engine.
func embedded(t *testing.T) Config {
	c := testConfig(t)
	c.Engine = EnginePebble
	return c
}

func TestStatus_showsPressureMemoryAndDisk(t *testing.T) {
	c := embedded(t)
	c.Disk.Reserve = 1 // whatever disk the test runs on
	s := start(t, c, nil)
	s.inFlight.TryAcquire(s.inFlight.Size() / 4)
	defer s.inFlight.Release(s.inFlight.Size() / 4)
	var st ops.Status
	get(t, s, "/v1/status", &st)
	p := st.Pressure
	if p == nil || p.InFlight < 0.24 || p.InFlight > 0.26 || p.Value < p.InFlight || p.Value > 1 {
		t.Errorf("the pressure is %+v", p)
	}
	var budget int64
	parts := map[string]ops.MemoryPart{}
	for _, part := range st.Memory {
		budget += part.BudgetBytes
		parts[part.Part] = part
	}
	if len(parts) != 5 || budget != int64(MinMemory) {
		t.Errorf("%d parts have %d bytes of %d", len(parts), budget, MinMemory)
	}
	if n := parts["doors"].UsedBytes; n != s.inFlight.Size()/4 {
		t.Errorf("doors use %d", n)
	}
	if parts["memtables"].UsedBytes == 0 {
		t.Errorf("memory is %+v", st.Memory)
	}
	d := st.Disk
	if d == nil || d.SizeBytes == 0 || d.FreeBytes > d.SizeBytes || d.ReserveBytes != 1 || d.Full || d.Waiting {
		t.Errorf("the disk is %+v", d)
	}
	_, body := get(t, s, "/metrics", nil)
	for _, metric := range []string{
		"cellar_pressure_ratio 0.2", `cellar_pressure_part_ratio{part="in_flight"} 0.2`, `cellar_pressure_part_ratio{part="memtables"}`,
		`cellar_pressure_part_ratio{part="l0"} 0`, `cellar_pressure_part_ratio{part="garbage"} 0`, `cellar_pressure_part_ratio{part="disk"} 0`,
		`cellar_memory_used_bytes{part="memtables"}`, `cellar_memory_used_bytes{part="block_cache"}`, `cellar_memory_used_bytes{part="doors"}`,
		"cellar_store_disk_free_bytes", "cellar_store_disk_reserve_bytes 1\n", "cellar_store_disk_full 0", "cellar_store_disk_waiting 0",
		"cellar_store_write_stalls_total 0", "cellar_store_admission_rate_bytes 0", "cellar_store_admission_waiting 0",
	} {
		if !strings.Contains(body, metric) {
			t.Errorf("no metric %s", metric)
		}
	}
}

// An engine that keeps nothing has neither disk nor pressure of its own.
func TestStatus_ofAnEngineWithoutDisk(t *testing.T) {
	s := start(t, testConfig(t), nil)
	var st ops.Status
	get(t, s, "/v1/status", &st)
	if st.Disk != nil || st.Pressure == nil || *st.Pressure != (ops.Pressure{}) || len(st.Memory) != 5 {
		t.Errorf("status is %+v", st)
	}
}

// Where the disk has less than the reserve, a load balancer is told to send
// writers elsewhere, and reads of those who are there go on.
func TestReady_notWithAFullDisk(t *testing.T) {
	c := embedded(t)
	c.Disk.Reserve = 1 << 60
	s := start(t, c, nil)
	code, body := get(t, s, "/readyz", nil)
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "the disk is nearly full") || !strings.Contains(body, "reserve 1.0 EiB") {
		t.Errorf("readyz: %d %s", code, body)
	}
	if code, _ := get(t, s, "/healthz", nil); code != http.StatusOK {
		t.Errorf("healthz: %d", code)
	}
	var st ops.Status
	get(t, s, "/v1/status", &st)
	if st.State != stateReady || !st.Disk.Full || st.Pressure.Disk != 1 || st.Pressure.Value != 1 {
		t.Errorf("status is %+v, disk %+v, pressure %+v", st, st.Disk, st.Pressure)
	}
	if _, body := get(t, s, "/metrics", nil); !strings.Contains(body, "cellar_store_disk_full 1\n") {
		t.Error("the metrics do not say that the disk is full")
	}
}
