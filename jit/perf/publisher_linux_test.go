// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

func TestMapWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf-1.map")
	// What was there at the start goes.
	if err := os.WriteFile(path, []byte("1 1 of an earlier program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := openMap(path, before)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.Close() }()
	if _, err := w.Publish(batch(0x1000, 2, 0)); err != nil {
		t.Fatal(err)
	}
	if w, err := openMap(path, before); w != nil || !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "a second one would write functions twice") {
		t.Errorf("a second writer: %v, %v", w, err)
	}
	// What another runtime of the process writes stays.
	other, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.WriteString("2000 10 another's\n"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Close(), w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if _, err := w.Publish(batch(0x1000, 1, 0)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Publish after Close: %v", err)
	}
	if w, err = openMap(path, before); err != nil {
		t.Fatal(err)
	}
	r, err := w.Publish(batch(0x3000, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := "1000 10 function 0\n1010 10 function 1\n2000 10 another's\n3000 10 function 0\n3010 10 function 1\n"
	if err := errors.Join(r.WithdrawFunctions(1), r.Withdraw()); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, data, want)
	}
	if err := r.WithdrawFunctions(2); err == nil || err.Error() != "perf map: "+jit.ErrCode.Error()+": withdrawing function 2 of a batch of 2" {
		t.Errorf("withdrawing what is not there: %v", err)
	}
	if _, err := w.Publish(new(jit.Code)); !errors.Is(err, jit.ErrCode) {
		t.Errorf("a bad batch: %v", err)
	}

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := openMap(link, nil); !errors.Is(err, unix.ELOOP) {
		t.Errorf("through a link: %v", err)
	}
}

// What was there at the start and was written since is somebody's of this program.
func TestMapWrittenSince(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf-1.map")
	for _, text := range []string{"1 1 before\n", "2 1 since then\n"} {
		before, _ := os.Lstat(path)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if before == nil {
			continue
		}
		w, err := openMap(path, before)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("%v, %q, want %q", err, data, text)
		}
	}
}

// missing is the path of a jitdump in a folder that is not there.
var missing = regexp.MustCompile(`/\S*/missing/jit-\d+\.dump`)

// TestEnvironment publishes in a child process through the registered publisher.
func TestEnvironment(t *testing.T) {
	for _, test := range []struct {
		value string
		dir   bool   // JITDUMPDIR exists
		want  string // publishers, and what is there, or the error
	}{
		{"", true, "[] not applicable"},
		{"jitdump", true, "[perf-jitdump] jitdump"},
		{"map", true, "[perf-map] map"},
		{"jitdump,map", true, "[perf-jitdump perf-map] jitdump map"},
		{"map,jitdump", true, "[perf-jitdump perf-map] jitdump map"},
		{"yes", true, `perf-jitdump: CLEW_PERF is "yes", expected jitdump, map or both with a comma`},
		{"jitdump,", true, `perf-jitdump: CLEW_PERF is "jitdump,", expected jitdump, map or both with a comma`},
		{"jitdump", false, "perf-jitdump: jitdump: open MISSING: no such file or directory (the folder is that of JITDUMPDIR)"},
		{"jitdump,map", false, "[perf-map] failed: perf-jitdump: jitdump: open MISSING: no such file or directory (the folder is that of JITDUMPDIR) map"},
	} {
		dir := t.TempDir()
		folder := dir
		if !test.dir {
			folder = filepath.Join(dir, "missing")
		}
		out, err := asRole("environment", folder, variable+"="+test.value, "JITDUMPDIR="+folder, "TMPDIR=/nonexistent").CombinedOutput()
		if got := missing.ReplaceAllString(string(out), "MISSING"); err != nil || got != test.want {
			t.Errorf("%s: %v, %q, want %q", test.value, err, got, test.want)
		}
	}

	// Without JITDUMPDIR it is the temporary folder.
	out, err := asRole("environment", "", variable+"=jitdump", "JITDUMPDIR=", "TMPDIR=/nonexistent").CombinedOutput()
	if !strings.HasSuffix(string(out), "(the folder is the temporary one, as JITDUMPDIR is not set)") {
		t.Errorf("%v, %s", err, out)
	}
	dir := t.TempDir()
	out, err = asRole("environment", dir, variable+"=jitdump", "JITDUMPDIR=", "TMPDIR="+dir).CombinedOutput()
	if err != nil || string(out) != "[perf-jitdump] jitdump" {
		t.Errorf("%v, %s", err, out)
	}
}

func init() {
	roles["environment"] = func(dir string) error {
		list := fmt.Sprintf("/tmp/perf-%d.map", os.Getpid())
		defer os.Remove(list)
		for i := range uint64(2) {
			p, err := jit.Publish(batch(0x1000*i, 1, 0))
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
		if d, err := ReadJitdump(filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))); err == nil {
			fmt.Print(" jitdump")
			applies = true
			if n := len(d.Index().Functions()); n != 2 {
				return fmt.Errorf("%d functions in the jitdump", n)
			}
		}
		if m, err := ReadMap(list); err == nil {
			fmt.Print(" map")
			applies = true
			if n := len(m.Symbols()); n != 2 {
				return fmt.Errorf("%d functions in the map", n)
			}
		}
		if !applies {
			for _, begin := range []func(string) (jit.Publisher, error){beginDump, beginMap} {
				if _, err := (&environment{begin: begin}).Publish(batch(0x1000, 1, 0)); !errors.Is(err, jit.ErrNotApplicable) {
					return fmt.Errorf("nothing was written: %w", err)
				}
			}
			fmt.Print(" not applicable")
		}
		return nil
	}
}
