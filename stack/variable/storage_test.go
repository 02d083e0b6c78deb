// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package variable_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/trace"
)

var storageFrame = regexp.MustCompile(`^ *#\d+ +0x[0-9a-f]+ +(?:in )?((?:at_rest|in_library) \(number=\d\)) at `)

// storageShown returns the thread-local variables in a text of stacks, by the call.
func storageShown(text string) map[string]string {
	shown := make(map[string]string)
	call := ""
	for line := range strings.Lines(text) {
		if m := storageFrame.FindStringSubmatch(line); m != nil {
			call = m[1]
			shown[call] = ""
		} else if !strings.HasPrefix(line, "        ") {
			call = ""
		} else if call != "" {
			shown[call] += line
		}
	}
	return shown
}

// Thread-local variables equal gdb's and those that the program set: the program's own, those
// of a linked library, and those of a library that it loaded while its threads were already
// running, live and in a core.
func TestThreadLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes long")
	}
	gdb := testprogram.RequireTool(t, "gdb")
	want := map[string]string{
		"in_library (number=1)": "        calls = 41\n        name = \"mibrary\"\n        never = {0 <repeats 4096 times>}\n",
		"in_library (number=2)": "        calls = 42\n        name = \"nibrary\"\n        never = {0 <repeats 4096 times>}\n",
		"in_library (number=3)": "        calls = 43\n        name = \"oibrary\"\n        never = {0 <repeats 4096 times>}\n",
		"in_library (number=4)": "        calls = 44\n        name = \"pibrary\"\n        never = {0 <repeats 4096 times>}\n",
		"at_rest (number=1)":    "        share = 1.5\n        pair = {c = 112 'p', n = 2}\n",
		"at_rest (number=2)":    "        share = 2.5\n        pair = {c = 112 'p', n = 3}\n",
		"at_rest (number=3)":    "        share = 3.5\n        pair = {c = 112 'p', n = 4}\n",
		"at_rest (number=4)":    "        share = 4.5\n        pair = {c = 112 'p', n = 5}\n",
	}
	dir := t.TempDir()
	library, plugin := filepath.Join(dir, "libstorage.so"), filepath.Join(dir, "plugin.so")
	for _, out := range []string{library, plugin} {
		run(t, "gcc", "-g", "-shared", "-fPIC", "-o", out, "testdata/storage_library.c")
	}
	program := filepath.Join(dir, "storage")
	run(t, "gcc", "-g", "-o", program, "testdata/storage.c", library, "-ldl", "-pthread")
	p := testprogram.Start(t, program, plugin)
	p.Settle(t)
	if got := storageShown(stacksText(t, p.PID, true)); !maps.Equal(got, want) {
		t.Errorf("live: %q", got)
	}
	p.Kill()
	path := testprogram.Core(t, testprogram.CoreOptions{}, program, plugin)
	if got := storageShown(coreText(t, path, textOptions{})); !maps.Equal(got, want) {
		t.Errorf("core: %q", got)
	}
	cmd := exec.Command(gdb, "-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set width 0", "-ex", "thread apply all backtrace full", program, path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, text)
	}
	if got := storageShown(string(text)); !maps.Equal(got, want) {
		t.Errorf("gdb: %q\n%s", got, text)
	}
}

// A program's own storage has a known offset, also without a dynamic linker.
func TestThreadLocalStatic(t *testing.T) {
	for _, flags := range []string{"-static", "-static-pie", "-no-pie"} {
		program := filepath.Join(t.TempDir(), "alone")
		run(t, "gcc", "-g", flags, "-o", program, "testdata/storage_alone.c")
		path := testprogram.Core(t, testprogram.CoreOptions{Crashes: true}, program)
		want := map[string]string{"at_rest (number=5)": "        first = 5 '\\005'\n        aligned = \"aligned\"\n        last = 10\n"}
		if got := storageShown(coreText(t, path, textOptions{})); !maps.Equal(got, want) {
			t.Errorf("%s: %q", flags, got)
		}
	}
}

// textOptions change the output of coreText.
type textOptions struct{ utf8, raw bool }

// coreText returns the text of the stacks in a core, with local variables.
func coreText(t *testing.T, path string, opts textOptions) string {
	t.Helper()
	r := coreStacks(t, path, nil)
	r.Locals, r.Raw = true, opts.raw
	var out bytes.Buffer
	if err := r.Text(&out, trace.Options{AllFrames: true, UTF8: opts.utf8}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
