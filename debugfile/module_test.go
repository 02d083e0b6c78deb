// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debugfile_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// These are the test's files: one program three times.
const (
	rightID = "1234567890abcdef"
	wrongID = "fedcba0987654321"
)

func build(t *testing.T, id string) string {
	t.Helper()
	if id != "none" {
		id = "0x" + id
	}
	return testprogram.Build(t, "chain.c", "-O2", "-Wl,--build-id="+id)
}

func place(t *testing.T, from, to string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, data, 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The file is found in each place, after a file of another build ID in each place
// before it.
func TestOpen(t *testing.T) {
	id, err := hex.DecodeString(rightID)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, none := build(t, rightID), build(t, wrongID), build(t, "none")
	for _, rooted := range []bool{false, true} {
		dir := t.TempDir()
		search := debugfile.Search{Stores: []debugfile.Store{{Dir: dir + "/debug"},
			{Dir: dir + "/perf", Layout: debugfile.PerfCache}, {Dir: dir + "/cache", Layout: debugfile.DebuginfodCache}}}
		module := debugfile.Module{Path: dir + "/bin/program", BuildID: id,
			Places: []debugfile.Place{{Path: dir + "/first"}}}
		places := []string{dir + "/first", dir + "/bin/program", dir + "/debug/.build-id/12/34567890abcdef",
			dir + "/perf/.build-id/12/34567890abcdef/elf", dir + "/perf/.build-id/12/34567890abcdef/vdso", dir + "/cache/" + rightID + "/executable"}
		if rooted {
			search.Root = dir + "/root"
			places = append(append([]string{places[0], search.Root + places[1], places[1]}, search.Root+places[2]), places[2:]...)
		}
		for i, name := range places {
			place(t, right, name)
			f, at, err := search.Open(&module)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if f.Close(); at.Name() != name {
				t.Errorf("%s was found, expected %s", at.Name(), name)
			}
			o, err := search.OpenObject(&module)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if o.Close(); search.Root+o.Name() != name && o.Name() != name {
				t.Errorf("the object is called %s, expected %s", o.Name(), name)
			}
			if i%2 == 0 {
				place(t, wrong, name)
			} else {
				place(t, none, name)
			}
		}
		f, _, err := search.Open(&module)
		var missing *debugfile.NotFoundError
		if f != nil || !errors.As(err, &missing) || missing.Path != module.Path || len(missing.Failed) != len(places) || errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%v, %+v", f, err)
		}
		for i, name := range places {
			reason := "its build ID is " + wrongID + ", and " + rightID + " is expected"
			if i%2 == 1 {
				reason = "it has no build ID, and " + rightID + " is expected"
			}
			var refused *object.RefusedError
			if !errors.As(missing.Failed[i], &refused) || refused.Path != name || refused.Reason != reason ||
				!strings.Contains(err.Error(), name+" was not used: "+reason) {
				t.Errorf("%v, expected %s for %s", missing.Failed[i], reason, name)
			}
		}
		for _, store := range search.Stores {
			if !strings.Contains(missing.Reason(), store.Dir) {
				t.Errorf("%q does not say that %s was searched", missing.Reason(), store.Dir)
			}
		}
	}
}

func TestNothingThere(t *testing.T) {
	module := debugfile.Module{Path: "/nonexistent/program"}
	for _, tt := range []struct{ root, id, reason string }{
		{"", "", "it is not there"},
		{"/nowhere", "", "there is no /nowhere/nonexistent/program, no /nonexistent/program"},
		{"", "abcd", "it is not there; no file of build ID abcd was found in /nonexistent/debug"},
	} {
		search := debugfile.Search{Root: tt.root, Stores: []debugfile.Store{{Dir: "/nonexistent/debug"}}}
		module.BuildID, _ = hex.DecodeString(tt.id)
		f, _, err := search.Open(&module)
		if f != nil || !errors.Is(err, fs.ErrNotExist) || err.Error() != module.Path+": "+tt.reason {
			t.Errorf("%v, %v; expected %s", f, err, tt.reason)
		}
	}
}

// Without a build ID, the place and the caller's Same decide.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	place(t, build(t, "none"), path)
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	arm64 := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	no := errors.New("it is another")
	for _, tt := range []struct {
		name   string
		module debugfile.Module
		reason string // of the error; "" if it is found
	}{
		{"by its path", debugfile.Module{Path: path}, ""},
		{"by a path that leads to it no more", debugfile.Module{Path: path, Stale: true}, "no proof"},
		{"proved", debugfile.Module{Path: path, Stale: true, Same: func(*os.File, *object.File) (bool, error) { return true, nil }}, ""},
		{"not proved", debugfile.Module{Path: path, Stale: true, Same: func(*os.File, *object.File) (bool, error) { return false, nil }}, "no proof"},
		{"another", debugfile.Module{Path: path, Same: func(*os.File, *object.File) (bool, error) { return false, no }}, no.Error()},
		{"certain", debugfile.Module{Path: "/nonexistent", BuildID: []byte{1, 2}, Places: []debugfile.Place{{Path: path, Trust: debugfile.Certain}}}, ""},
		{"a FIFO", debugfile.Module{Path: filepath.Join(dir, "fifo")}, "not a regular file"},
		{"of another machine", debugfile.Module{Path: path, Machine: arm64}, "expected arm64"},
		{"no object file", debugfile.Module{Path: filepath.Join(dir, "text"), Machine: arm64}, "text"},
		{"data", debugfile.Module{Path: filepath.Join(dir, "text"), Machine: arm64, Data: true}, ""},
		{"a relative path", debugfile.Module{Path: "module_test.go"}, "it is not there"},
	} {
		search := debugfile.Search{Stores: []debugfile.Store{}}
		f, _, err := search.Open(&tt.module)
		if f != nil {
			f.Close()
		}
		if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("%s: %v, expected %q", tt.name, err, tt.reason)
		}
	}
}

func TestDefaultStores(t *testing.T) {
	t.Setenv("HOME", "/home/user")
	t.Setenv("XDG_CACHE_HOME", "")
	for cache, want := range map[string]string{"": "/home/user/.cache/debuginfod_client", "/var/cache/debug": "/var/cache/debug"} {
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		got := debugfile.DefaultStores()
		if len(got) != 4 || got[0].Dir != "/usr/lib/debug" || got[2] != (debugfile.Store{Dir: "/home/user/.debug", Layout: debugfile.PerfCache}) ||
			got[3] != (debugfile.Store{Dir: want, Layout: debugfile.DebuginfodCache}) {
			t.Errorf("%v", got)
		}
	}
	search := debugfile.Search{}
	if got := search.Kallsyms("1234"); len(got) != 1 || got[0] != "/home/user/.debug/[kernel.kallsyms]/1234/kallsyms" {
		t.Errorf("%v", got)
	}
	if got := search.Kallsyms(""); got != nil {
		t.Errorf("without an ID: %v", got)
	}
}

// As root, a file that the target's user may not read is used only if it is code, and no
// error shows the content of another file.
func TestReadAs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root reads files with the rights of another user")
	}
	id, err := hex.DecodeString(rightID)
	if err != nil {
		t.Fatal(err)
	}
	secret, open := publicDir(t), publicDir(t)
	program := build(t, rightID)
	place(t, program, secret+"/program")
	core, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(core[16:], uint16(elf.ET_CORE))
	if err := errors.Join(os.WriteFile(secret+"/core", core, 0o600), os.WriteFile(secret+"/jit-1.dump", []byte("DTiJ and the rest of its header"), 0o600),
		os.WriteFile(secret+"/shadow", []byte("root:$y$SECRET"), 0o600), os.Chmod(secret, 0o700),
		os.WriteFile(open+"/shadow", []byte("root:$y$SECRET"), 0o600), os.WriteFile(open+"/data", []byte("data"), 0o644)); err != nil {
		t.Fatal(err)
	}
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for _, tt := range []struct {
		name   string
		module debugfile.Module
		found  bool
	}{
		{"a program", debugfile.Module{Path: secret + "/program", BuildID: id}, true},
		{"a program that is taken for data", debugfile.Module{Path: secret + "/program", Data: true}, true},
		{"a jitdump", debugfile.Module{Path: secret + "/jit-1.dump", Data: true}, true},
		{"a core", debugfile.Module{Path: secret + "/core", Data: true}, false},
		{"not an object file", debugfile.Module{Path: secret + "/shadow", BuildID: id}, false},
		{"expected to be a program", debugfile.Module{Path: secret + "/shadow", Machine: amd64}, false},
		{"data", debugfile.Module{Path: open + "/shadow", Data: true}, false},
		{"at a place that the target names", debugfile.Module{Places: []debugfile.Place{{Path: open + "/shadow"}}, Data: true}, false},
		{"at a place that the user names", debugfile.Module{Places: []debugfile.Place{{Path: open + "/shadow", Named: true}}, Data: true}, true},
		{"data that everybody may read", debugfile.Module{Path: open + "/data", Data: true}, true},
	} {
		search := debugfile.Search{Stores: []debugfile.Store{}, ReadAs: &debugfile.User{ID: 12345, Group: 12345}}
		f, _, err := search.Open(&tt.module)
		if f != nil {
			f.Close()
		}
		if (err == nil) != tt.found || err != nil && !strings.Contains(err.Error(), "permission denied: it is read with the rights of user 12345") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "72 6f") {
			t.Errorf("%s: the error shows the file's content: %v", tt.name, err)
		}
	}
	search := debugfile.Search{Stores: []debugfile.Store{}, ReadAs: &debugfile.User{ID: 12345, Group: 12345}}
	if _, _, err := search.Open(&debugfile.Module{Path: secret + "/nothing"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// publicDir returns a temporary directory that every user may enter.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
