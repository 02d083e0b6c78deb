// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package environment

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// The test program also publishes, to the folder that this environment variable names.
const folderVariable = "CLEW_TEST_FOLDER"

func TestMain(m *testing.M) {
	dir, known := os.LookupEnv(folderVariable)
	if !known {
		os.Exit(m.Run())
	}
	if err := publish(dir); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// publishing returns a command that publishes.
func publishing(dir string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), folderVariable+"="+dir), env...)
	return cmd
}

func batch(address uint64) *jit.Code {
	return &jit.Code{Address: address, Text: make([]byte, 16), Functions: []jit.Function{{Name: "function", Size: 16}}}
}

// missing is the path of a jitdump in a folder that does not exist.
var missing = regexp.MustCompile(`/\S*/missing/jit-\d+\.dump`)

// TestEnvironment publishes in a child process through the registered publisher.
func TestEnvironment(t *testing.T) {
	for _, test := range []struct {
		value string
		dir   bool   // JITDUMPDIR exists
		want  string // publishers and files, or the error
	}{
		{"", true, "[] not applicable"},
		{"jitdump", true, "[perf-jitdump] jitdump"},
		{"map", true, "[perf-map] map"},
		{"jitdump,map", true, "[perf-jitdump perf-map] jitdump map"},
		{"map,jitdump", true, "[perf-jitdump perf-map] jitdump map"},
		{"yes", true, `perf-jitdump: CLEW_PERF is "yes", expected jitdump, map or both with a comma`},
		{"jitdump,", true, `perf-jitdump: CLEW_PERF is "jitdump,", expected jitdump, map or both with a comma`},
		{"jitdump", false, "perf-jitdump: jitdump: open MISSING: no such file or directory (the directory is set by JITDUMPDIR)"},
		{"jitdump,map", false, "[perf-map] failed: perf-jitdump: jitdump: open MISSING: no such file or directory (the directory is set by JITDUMPDIR) map"},
	} {
		dir := t.TempDir()
		folder := dir
		if !test.dir {
			folder = filepath.Join(dir, "missing")
		}
		out, err := publishing(folder, variable+"="+test.value, "JITDUMPDIR="+folder, "TMPDIR=/nonexistent").CombinedOutput()
		if got := missing.ReplaceAllString(string(out), "MISSING"); err != nil || got != test.want {
			t.Errorf("%s: %v, %q, want %q", test.value, err, got, test.want)
		}
	}

	// Without JITDUMPDIR it is the temporary folder.
	out, err := publishing("", variable+"=jitdump", "JITDUMPDIR=", "TMPDIR=/nonexistent").CombinedOutput()
	if !strings.HasSuffix(string(out), "(the temporary directory, because JITDUMPDIR is not set)") {
		t.Errorf("%v, %s", err, out)
	}
	dir := t.TempDir()
	out, err = publishing(dir, variable+"=jitdump", "JITDUMPDIR=", "TMPDIR="+dir).CombinedOutput()
	if err != nil || string(out) != "[perf-jitdump] jitdump" {
		t.Errorf("%v, %s", err, out)
	}
}

// publish publishes two batches through the registered publishers, and prints the
// results.
func publish(dir string) error {
	list := fmt.Sprintf("/tmp/perf-%d.map", os.Getpid())
	defer os.Remove(list)
	if asked := os.Getenv(variable) != ""; jit.Listening() != asked {
		return fmt.Errorf("the environment asks for perf: %t, but jit.Listening returns %t", asked, !asked)
	}
	for i := range uint64(2) {
		p, err := jit.Publish(batch(0x1000 * i))
		if err != nil {
			fmt.Print(err)
			return nil
		}
		if i == 0 {
			fmt.Print(p.Publishers())
			if err := p.Failed(); err != nil {
				fmt.Print(" failed: ", err)
			}
		}
		if err := p.Withdraw(); err != nil {
			return err
		}
	}
	applies := false
	if d, err := perf.ReadJitdump(filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))); err == nil {
		fmt.Print(" jitdump")
		applies = true
		if n := len(d.Index().Functions()); n != 2 {
			return fmt.Errorf("%d functions in the jitdump", n)
		}
	}
	if m, err := perf.ReadMap(list); err == nil {
		fmt.Print(" map")
		applies = true
		if n := len(m.Symbols()); n != 2 {
			return fmt.Errorf("%d functions in the map", n)
		}
	}
	if !applies {
		for _, begin := range []func(string) (*perf.Publisher, error){beginDump, beginMap} {
			if _, err := newPublisher(begin).Publish(batch(0x1000)); !errors.Is(err, jit.ErrNotApplicable) {
				return fmt.Errorf("nothing was written: %w", err)
			}
		}
		fmt.Print(" not applicable")
	}
	return nil
}

// Packages that read profiles and stacks do not publish.
func TestReadersPublishNothing(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "github.com/clewdev/clew/snapshot/...", "github.com/clewdev/clew/stack/...", "github.com/clewdev/clew/report/...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	const path = "github.com/clewdev/clew/jit/perf"
	if !slices.Contains(packages, path) || slices.Contains(packages, path+"/environment") {
		t.Errorf("they import %q", packages)
	}
}
