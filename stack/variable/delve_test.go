// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// delve builds the version of Delve that scripts/tools names.
func delve(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dlv")
	cmd := exec.Command(testprogram.RequireTool(t, "go"), "build", "-C", "../../scripts/tools", "-o", path, "github.com/go-delve/delve/cmd/dlv")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s", out)
		t.Skip("skipped: dlv is not installed")
	}
	return path
}

// delveSays returns Delve's output for commands about a core.
func delveSays(t *testing.T, dlv, program, core string, commands ...string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "commands")
	if err := os.WriteFile(script, []byte(strings.Join(append(commands, "exit", ""), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dlv, "core", program, core, "--init", script, "--allow-non-terminal-interactive=true")
	cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "TZ=UTC", "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("dlv: %v\n%s", err, out)
	}
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(string(out), "")
}

var (
	delveFrame    = regexp.MustCompile(`(?m)^ *(\d+) +0x[0-9a-f]+ in main\.last$`)
	delveVariable = regexp.MustCompile(`^(\w+) = (.*)$`)
	cutTime       = regexp.MustCompile(`time\.Time\([^)]*\)\{\.\.\.\}`)
	cutTimeAt     = regexp.MustCompile(`\(\*time\.Time\)\(0x[0-9a-f]+\)`)
)

// onOneLine returns values by their names in Delve's form for one line, from its output on
// several lines. Separators have no spaces.
func onOneLine(text string) map[string]string {
	list := make(map[string]string)
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch m := delveVariable.FindStringSubmatch(line); {
		case m != nil:
			name = m[1]
			list[name] = m[2]
		case strings.HasPrefix(line, "*"):
			list[name] = line // what a pointer leads to follows its address
		default:
			list[name] += strings.TrimLeft(line, "\t")
		}
	}
	closed := strings.NewReplacer(", ", ",", ",]", "]", ",}", "}")
	for name, value := range list {
		value = strings.ReplaceAll(value, ", ", ",")
		list[name] = cutTimeAt.ReplaceAllString(closed.Replace(value), "time.Time{...}")
	}
	return list
}

// Values in values of Go, and times, equal those of Delve's "locals -v", except for deeply
// nested times: Delve shows the address, Clew the time.
func TestGoNestedEqualsDelve(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes long")
	}
	dlv := delve(t)
	t.Setenv("GOTRACEBACK", "crash")
	program := testprogram.Build(t, "gonested", "-gcflags=all=-N -l")
	path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
	m := delveFrame.FindStringSubmatch(delveSays(t, dlv, program, path, "stack 50"))
	if m == nil {
		t.Fatal("Delve has no frame of main.last")
	}
	want := onOneLine(delveSays(t, dlv, program, path, "frame "+m[1]+" locals -v"))
	got := make(map[string]string)
	for _, line := range localsOf(coreText(t, path, textOptions{}), "main.last") {
		if m := delveVariable.FindStringSubmatch(line); m != nil {
			got[m[1]] = cutTime.ReplaceAllString(strings.ReplaceAll(m[2], ", ", ","), "time.Time{...}")
		}
	}
	// An interface that contains a nil pointer is not a nil interface: Delve shows both as nil
	// after the type of an element.
	want["values"] = strings.Replace(want["values"], ",nil,nil,", ",*main.point nil,nil,", 1)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != want[name] {
			t.Errorf("%s = %s\nDelve:\n%s", name, got[name], want[name])
		}
	}
	if len(got) < 28 {
		t.Errorf("%d variables, expected 28: %q", len(got), got)
	}
	if !strings.HasPrefix(got["utc"], "time.Time(2021-01-03T04:05:06Z){wall: 700") {
		t.Errorf("utc = %s", got["utc"])
	}
}
