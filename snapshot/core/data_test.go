// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot/core"
)

// gcore writes no segment for mapped memory that was not written to. An existing file that is
// not an ELF file is data: not executable, and read from the file. Any other file can be code.
func TestMappedData(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"locale": " \x07\x15\x20 a locale", "jit-1.dump": "DTiJ", "empty": "", "gone": "data",
		"lib": string(image([2]uint64{0, 4096}, [2]uint64{4096, 4096})), "program": "#!replaced since",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "device"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := empty()
	m.thread(1, 0, 216)
	m.note(6, m.word(m.word(m.word(m.word(nil, 9), 0x70010), 0), 0)) // AT_ENTRY
	files := []struct {
		path       string
		offset     uint64
		executable bool
		missing    bool // once memory of it is read
	}{
		{"/locale", 0, false, false},
		{"/jit-1.dump", 0, false, false},
		{"/empty", 3, false, false},
		{"/device", 0, false, false},
		{"/gone (deleted)", 0, true, true},
		{"/lib", 1, true, false},
		{"/program", 0, true, true},
		{"/nowhere", 0, true, true},
	}
	b := m.word(m.word(nil, uint64(len(files))), 4096)
	var paths []byte
	for i, f := range files {
		at := 0x10000 * uint64(1+i)
		b = m.word(m.word(m.word(b, at), at+4096), f.offset)
		paths = append(append(paths, f.path...), 0)
	}
	m.note(0x46494c45, append(b, paths...))
	c, err := core.Open(write(t, m.bytes()), &core.Options{Search: debugfile.Search{Root: root}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := c.Snapshot()
	for i, f := range files {
		if got := s.Mapping(0x10000 * uint64(1+i)); got == nil || got.Executable != f.executable || got.Offset != 4096*f.offset {
			t.Errorf("%+v: %+v", f, got)
		}
	}
	if n := len(c.Missing()); n != 0 {
		t.Errorf("%d files are missing before one was asked for", n)
	}
	var locale [4]byte
	if err := s.Memory.ReadMemory(locale[:], 0x10000); err != nil || string(locale[:]) != " \x07\x15\x20" {
		t.Errorf("% x: %v", locale, err)
	}
	use(c)
	missing := make(map[uint64]bool)
	for _, m := range c.Missing() {
		missing[m.Address] = true
	}
	for i, f := range files {
		if got := missing[0x10000*uint64(1+i)]; got != f.missing {
			t.Errorf("%+v: missing %v", f, got)
		}
	}
}
