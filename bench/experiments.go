package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Experiment is a run of "cellar bench thrift" on a server of its own.
type Experiment struct {
	Name, Title string
	// Args are the flags of "cellar bench thrift", as --flag=value.
	Args []string
}

// Names of experiments that others refer to. Those that repeat what was published
// of 60,000 records begin with the prefix.
const (
	publishedPrefix     = "published-"
	ExperimentSustained = "sustained"
)

// Keys of Result.Config that say of which experiment a result is.
const (
	configExperiment = "experiment"
	configCommand    = "command"
	configScale      = "scale"
)

// Experiments are those that "cellar bench all" does, in the sizes in which they
// were published, or in which Cellar's aims are stated.
func Experiments() []Experiment {
	const memory = "--memory=1GiB"
	return []Experiment{
		{publishedPrefix + "private", "60,000 records over ten connections, all read back, random rows read", []string{"--records=60000", "--gets=20000", memory}},
		{publishedPrefix + "shared", "60,000 records over one connection that ten writers share", []string{"--op=load", "--mode=shared", "--records=60000", memory}},
		{publishedPrefix + "unlogged", "60,000 records without the log", []string{"--op=load", "--durability=SKIP_WAL", "--records=60000", memory}},
		{"increment", "1,000,000 increments over 1,000 rows", []string{"--op=increment", "--increments=1000000", memory}},
		{"filter", "a scan of 600,000 rows with a filter that keeps one in 1,000, beside the scan that sends all", []string{"--op=scan,filter", "--records=600000", memory}},
		{"rescan", "a scan of rows whose every cell was overwritten ten times, before and after a compaction", []string{"--op=rescan", "--records=600000", memory}},
		{"overwrite", "1,000,000 rows overwritten steadily at 30,000 a second for three minutes", []string{"--op=overwrite", "--records=1000000", "--rate=30000", "--duration=3m", "--memory=512MiB"}},
		{ExperimentSustained, "6,000,000 records, 6 GB, with random reads beside the load; all read back; starts on them", []string{"--op=load,scan,start", "--records=6000000", "--readers=2", "--read-rate=200", memory}},
		{"backup", "6,000,000 records, then loads of a minute without a backup, beside backups, and without", []string{"--op=backup", "--records=6000000", "--duration=1m", memory}},
		{"overload", "a hundred writers, ten times more than the store can take, for two minutes", []string{"--op=load", "--connections=100", "--duration=2m", memory}},
	}
}

// scaledFlags are those whose values grow with the scale.
var scaledFlags = []string{"records", "gets", "increments", "duration"}

// Bounds of a scale.
const (
	minScale = 0.0001
	maxScale = 1000
)

// CheckScale says what is wrong with a scale.
func CheckScale(scale float64) error {
	if !(scale >= minScale && scale <= maxScale) {
		return fmt.Errorf("--scale is %v: choose %v to %v", scale, minScale, maxScale)
	}
	return nil
}

// Scaled is the experiment with that share of the work. Below 1 nothing is
// repeated to make a figure.
func (e Experiment) Scaled(scale float64) Experiment {
	args := slices.Clone(e.Args)
	for i, arg := range args {
		flag, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !slices.Contains(scaledFlags, flag) || scale == 1 {
			continue
		}
		if n, err := strconv.Atoi(value); err == nil {
			value = strconv.Itoa(max(1, int(math.Round(float64(n)*scale))))
		} else if d, err := time.ParseDuration(value); err == nil {
			value = max(time.Millisecond, time.Duration(float64(d)*scale).Round(time.Millisecond)).String()
		}
		args[i] = "--" + flag + "=" + value
	}
	if scale < 1 {
		args = append(args, "--repeat=1")
	}
	e.Args = args
	return e
}

// Command is what does the experiment alone.
func (e Experiment) Command() string { return "cellar bench thrift " + strings.Join(e.Args, " ") }

// Mark notes in results of which experiment they are, at which scale.
func (e Experiment) Mark(results []Result, scale float64) {
	for i := range results {
		c := results[i].Config
		c[configExperiment], c[configCommand], c[configScale] = e.Name, e.Command(), scale
	}
}

// titleOf is an experiment's title; "" if there is none of that name.
func titleOf(name string) string {
	for _, e := range Experiments() {
		if e.Name == name {
			return e.Title
		}
	}
	return ""
}

// scaleOf is the scale of experiments' results; 1: as published, or there is
// none.
func scaleOf(results []Result) float64 {
	for i := range results {
		if scale, ok := results[i].Config[configScale].(float64); ok && scale != 1 {
			return scale
		}
	}
	return 1
}
