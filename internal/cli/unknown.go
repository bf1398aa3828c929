package cli

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/internal/spelling"
	"github.com/cellardb/cellar/server"
)

// settingKeys lists the keys of all settings.
func settingKeys() []string {
	var known []string
	for _, s := range server.Settings() {
		known = append(known, s.Key)
	}
	return known
}

// unknown names every key of a file that is no setting, its line, and what it
// may have meant: a misspelt setting must not be a silent default.
func (f *yamlFile) unknown() error {
	known := settingKeys()
	var wrong []error
	for _, key := range slices.SortedFunc(maps.Keys(f.set), func(a, b string) int { return f.lines[a] - f.lines[b] }) {
		if slices.Contains(known, key) || emptySection(known, key, f.set[key]) {
			continue
		}
		wrong = append(wrong, fmt.Errorf("%s:%d: there is no setting %q%s", f.name, f.lines[key], key, suggest(known, key)))
	}
	return errors.Join(wrong...)
}

// emptySection says whether a key is a section of settings with nothing in it,
// as "http:" above lines that are commented out.
func emptySection(known []string, key string, value any) bool {
	if m, ok := value.(map[string]any); value != nil && (!ok || len(m) > 0) {
		return false
	}
	return isSection(known, key)
}

func isSection(known []string, key string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, key+".") })
}

func suggest(known []string, key string) string {
	if isSection(known, key) {
		return ": it is a section, write its settings below it, indented"
	}
	best := nearest(known, key)
	if len(best) == 0 {
		return ": cellar config print shows all of them"
	}
	for i, k := range best {
		best[i] = fmt.Sprintf("%q", k)
	}
	return fmt.Sprintf(": did you mean %s?", strings.Join(best, " or "))
}

// nearest gives the known keys that a key may have meant: those that take the
// fewest letters to change. A key that is right but in the wrong section, or in
// none, is as near as one wrong letter. None: it is too far from all.
func nearest(known []string, key string) (best []string) {
	key = plainKey(key)
	distance := len(key)/3 + 2
	for _, k := range known {
		plain := plainKey(k)
		d := min(spelling.Distance(key, plain), 1+spelling.Distance(lastPart(key), lastPart(plain)))
		if d < distance {
			best, distance = []string{k}, d
		} else if d == distance && len(best) > 0 {
			best = append(best, k)
		}
	}
	return best
}

// plainKey makes ways of writing equal that people mix up: maxConnections,
// max-connections and MAX_CONNECTIONS.
func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// lastPart is a key without its sections.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// serviceVariable is what Kubernetes sets for every service, here for one called
// cellar or cellar-something: CELLAR_SERVICE_HOST, CELLAR_PORT_9090_TCP_ADDR.
var serviceVariable = regexp.MustCompile(`^CELLAR_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// unknownVariables names the variables with our prefix that were most likely
// meant to be a setting. Others are not ours to judge.
func unknownVariables(environ []string) error {
	known := settingKeys()
	isSetting := map[string]bool{configEnv: true}
	for _, s := range server.Settings() {
		isSetting[s.Env()] = true
	}
	var wrong []error
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, server.EnvPrefix) || isSetting[name] || serviceVariable.MatchString(name) {
			continue
		}
		near := nearest(known, keyOfVariable(known, name))
		if len(near) == 0 {
			continue
		}
		var names []string
		for _, s := range server.Settings() {
			if slices.Contains(near, s.Key) {
				names = append(names, s.Env())
			}
		}
		wrong = append(wrong, fmt.Errorf("the variable %s is no setting: did you mean %s?", name, strings.Join(names, " or ")))
	}
	return errors.Join(wrong...)
}

// keyOfVariable is the key that a variable's name would be of: its section, where
// it begins with one, and the rest.
func keyOfVariable(known []string, name string) string {
	key := strings.ToLower(strings.TrimPrefix(name, server.EnvPrefix))
	for _, k := range known {
		if section, _, ok := strings.Cut(k, "."); ok && strings.HasPrefix(key, section+"_") {
			return section + "." + strings.TrimPrefix(key, section+"_")
		}
	}
	return key
}

// unknownFlag adds to the error of a flag that a command does not have which
// one it may have meant.
func unknownFlag(c *cobra.Command, err error) error {
	var e *pflag.NotExistError
	if !errors.As(err, &e) || len(e.GetSpecifiedName()) < 2 {
		return err
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	name := e.GetSpecifiedName()
	best, distance := "", len(name)/3+2
	for _, k := range known {
		if d := spelling.Distance(plainKey(name), plainKey(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return fmt.Errorf("%w: %s --help lists them", err, c.CommandPath())
	}
	return fmt.Errorf("%w: did you mean --%s?", err, best)
}
