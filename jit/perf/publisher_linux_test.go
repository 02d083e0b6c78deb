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

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

func TestMapWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf-1.map")
	// A map from before the program's start is removed.
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
	// Lines of another runtime of the process stay.
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
	if err := r.WithdrawFunctions(2); err == nil || err.Error() != "perf map: "+jit.ErrCode.Error()+": no function 2: the batch has 2 functions" {
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

// A map from before the start that has changed since is one of another runtime here.
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

// Importing the package publishes nothing in any environment.
func TestImportPublishesNothing(t *testing.T) {
	dir := t.TempDir()
	out, err := asRole("import", dir, "CLEW_PERF=jitdump,map", "JITDUMPDIR="+dir, "TMPDIR="+dir).CombinedOutput()
	if err != nil || string(out) != "[]" {
		t.Errorf("%v, %s", err, out)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

func init() {
	roles["import"] = func(string) error {
		p, err := jit.Publish(batch(0x1000, 1, 0))
		if err != nil {
			return err
		}
		fmt.Print(p.Publishers())
		list := fmt.Sprintf("/tmp/perf-%d.map", os.Getpid())
		if err := os.Remove(list); err == nil {
			return fmt.Errorf("%s was written", list)
		}
		return p.Withdraw()
	}
}
