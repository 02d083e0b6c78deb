// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package core_test

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot/core"
)

// The limits of a compressed core follow the stored bytes of its file, not a sparse tail.
// Holes in skipped frames are not read.
func TestSparseCompressedCore(t *testing.T) {
	zstd := testprogram.RequireTool(t, "zstd")
	path := write(t, full(elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, 27*8).bytes())
	if out, err := exec.Command(zstd, "-q", path).CombinedOutput(); err != nil {
		t.Fatalf("zstd: %v\n%s", err, out)
	}
	path += ".zst"
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	// RFC 8878 §3.1.2, "Skippable Frames": a magic number and the number of bytes to skip.
	const most = 1<<32 - 1
	for at := info.Size(); at < 1<<40; at += 8 + most {
		if _, err := f.WriteAt([]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}, at); err != nil {
			t.Skip(err)
		}
	}
	read, total := int64(0), int64(0)
	c, err := core.Open(path, &core.Options{TempDir: t.TempDir(), Progress: func(done, all int64) { read, total = done, all }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(c.Snapshot().Threads) == 0 {
		t.Error("no threads")
	}
	if total > 4<<20 || read > 2*total+4<<20 {
		t.Errorf("the file counts as %d bytes, and %d were read", total, read)
	}
	if err := c.Damage(); err == nil || !strings.Contains(err.Error(), "the file is sparse: it stores ") {
		t.Error(err)
	}
}

// Source files are read with the rights of the user whom the core's file proves.
func TestUserOfCore(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	nobody := debugfile.User{ID: 65534, Group: 65534}
	for _, test := range []struct {
		name      string
		owner     int
		attribute string
		notes     []byte // NT_PRPSINFO
		want      debugfile.User
	}{
		{"a user's", 77, "5", processNote(1000, 1001), debugfile.User{ID: 77, Group: 77}},
		{"root's, of systemd", 0, "5", processNote(0, 0), debugfile.User{ID: 5, Group: 65534}},
		{"root's", 0, "", processNote(1000, 1001), nobody},
		{"root's, of root by its note", 0, "", processNote(0, 0), nobody},
		{"root's without a note", 0, "", nil, nobody},
	} {
		m := empty()
		if test.notes != nil {
			m.note(3 /* NT_PRPSINFO */, test.notes)
		}
		m.thread(1, 11, 27*8)
		path := write(t, m.bytes())
		if err := os.Chown(path, test.owner, test.owner); err != nil {
			t.Fatal(err)
		}
		if test.attribute != "" {
			if err := unix.Setxattr(path, "user.coredump.uid", []byte(test.attribute), 0); err != nil {
				t.Skip(err)
			}
		}
		c, err := core.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if user := c.Snapshot().Process.ReadAs; user == nil || user.ID != test.want.ID || user.Group != test.want.Group {
			t.Errorf("%s: %+v, expected %+v", test.name, user, test.want)
		}
	}
}

// processNote returns an NT_PRPSINFO of 64 bits.
func processNote(user, group uint32) []byte {
	b := make([]byte, 136)
	binary.LittleEndian.PutUint32(b[16:], user)
	binary.LittleEndian.PutUint32(b[20:], group)
	binary.LittleEndian.PutUint32(b[24:], 1)
	return b
}

// As root, no byte of a file is shown that the owner of the core may not read.
func TestFilesAreReadWithTheTargetsRights(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root reads files with the rights of another user")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, append(make([]byte, 4096), "root:$y$SECRET"...), 0o600); err != nil {
		t.Fatal(err)
	}
	m := empty()
	m.thread(1, 0, 216)
	note := m.word(m.word(m.word(m.word(m.word(nil, 1), 4096), 0x10000), 0x11000), 1)
	m.note(0x46494c45, append(note, file+"\x00"...))
	path := write(t, m.bytes())
	for _, test := range []struct {
		name  string
		owner int // of the core
		mode  os.FileMode
		root  string
		shown bool
	}{
		{"a user's core", 12345, 0o600, "", false},
		{"root's core, which anybody can have written", 0, 0o600, "", false},
		{"a file that everybody may read", 12345, 0o644, "", true},
		{"a sysroot is the user's choice", 12345, 0o600, "/", true},
	} {
		if err := errors.Join(os.Chown(path, test.owner, test.owner), os.Chmod(file, test.mode)); err != nil {
			t.Fatal(err)
		}
		c, err := core.Open(path, &core.Options{Search: debugfile.Search{Root: test.root}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var text [14]byte
		err = c.Snapshot().Memory.ReadMemory(text[:], 0x10000)
		if (err == nil) != test.shown || test.shown != (string(text[:]) == "root:$y$SECRET") || err != nil && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %q, %v", test.name, text, err)
		}
		f, err := c.Snapshot().Open(&c.Snapshot().Mappings[0])
		if err == nil {
			f.Close()
		}
		if (err == nil) != test.shown {
			t.Errorf("%s: the file was opened: %v", test.name, err)
		}
	}
}
