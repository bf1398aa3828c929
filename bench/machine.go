package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"
)

// Machine says in words what this machine is, as far as the system tells.
func Machine() string {
	cpu := ""
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		cpu = cpuModel(string(b))
	}
	memory := 0.0
	if f, ok := procFields("/proc/meminfo", "MemTotal"); ok {
		memory = f[0] * 1024 // kB
	}
	return machineText(runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, memory)
}

// cpuModel is the first model name of /proc/cpuinfo; "" if there is none.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// machineText puts it together; cpu "" and memory 0 are unknown.
func machineText(system, arch string, cpus int, cpu string, memory float64) string {
	text := fmt.Sprintf("%s/%s, %d CPUs", system, arch, cpus)
	if cpu != "" {
		text += " (" + cpu + ")"
	}
	if memory > 0 {
		text += ", " + humanize.IBytes(uint64(memory))
	}
	return text + "; client and server on it"
}
