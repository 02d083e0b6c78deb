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
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

func TestMapWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf-1.map")
	// What an earlier process left goes, what another runtime of this one wrote stays.
	if err := os.WriteFile(path, []byte("1 1 of an earlier process\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-365 * 24 * time.Hour * 30)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	var writers []*MapWriter
	for range 2 {
		w, err := openMap(path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		writers = append(writers, w)
		if _, err := w.Publish(batch(uint64(0x1000*len(writers)), 2, 0)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := writers[0].Publish(batch(0x3000, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := "1000 10 function 0\n1010 10 function 1\n2000 10 function 0\n2010 10 function 1\n3000 10 function 0\n3010 10 function 1\n"
	if err := errors.Join(r.Withdraw(1), r.Withdraw()); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, data, want)
	}
	if err := r.Withdraw(2); err == nil || err.Error() != "perf map: withdrawing function 2 of a batch of 2" {
		t.Errorf("withdrawing what is not there: %v", err)
	}
	if err := errors.Join(writers[0].Close(), writers[0].Close()); err != nil {
		t.Error(err)
	}
	if _, err := writers[0].Publish(batch(0x1000, 1, 0)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Publish after Close: %v", err)
	}
	if _, err := writers[1].Publish(new(jit.Code)); !errors.Is(err, jit.ErrCode) {
		t.Errorf("a bad batch: %v", err)
	}

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := openMap(link); !errors.Is(err, unix.ELOOP) {
		t.Errorf("through a link: %v", err)
	}
}

// TestEnvironment publishes in a child process through the registered publisher.
func TestEnvironment(t *testing.T) {
	for _, test := range []struct {
		value string
		dir   bool   // JITDUMPDIR exists
		want  string // publishers, and what is there, or the error
	}{
		{"", true, "[] not applicable"},
		{"jitdump", true, "[perf] jitdump"},
		{"map", true, "[perf] map"},
		{"jitdump,map", true, "[perf] jitdump map"},
		{"map,jitdump", true, "[perf] jitdump map"},
		{"yes", true, `perf: CLEW_PERF is "yes", expected jitdump, map or both with a comma`},
		{"jitdump,", true, `perf: CLEW_PERF is "jitdump,", expected jitdump, map or both with a comma`},
		{"jitdump,map", false, "perf: jitdump: open "},
	} {
		dir := t.TempDir()
		folder := dir
		if !test.dir {
			folder = filepath.Join(dir, "missing")
		}
		out, err := asRole("environment", folder, variable+"="+test.value, "JITDUMPDIR="+folder, "TMPDIR=/nonexistent").CombinedOutput()
		if got := string(out); err != nil || !strings.HasPrefix(got, test.want) || test.dir && got != test.want {
			t.Errorf("%s: %v, %q, want %q", test.value, err, got, test.want)
		}
	}

	// Without JITDUMPDIR it is the temporary folder.
	dir := t.TempDir()
	out, err := asRole("environment", dir, variable+"=jitdump", "JITDUMPDIR=", "TMPDIR="+dir).CombinedOutput()
	if err != nil || string(out) != "[perf] jitdump" {
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
			_, err := new(environment).Publish(batch(0x1000, 1, 0))
			if !errors.Is(err, jit.ErrNotApplicable) {
				return fmt.Errorf("nothing was written: %w", err)
			}
			fmt.Print(" not applicable")
		}
		return nil
	}
}
