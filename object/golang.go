// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
)

// GoInfo is what the Go toolchain wrote into a program.
type GoInfo struct {
	Version string           // "go1.26.0"
	Build   *debug.BuildInfo // nil where the program has no module information
}

// Go tells whether the file is a program built by the Go toolchain (or a C
// program that holds a Go library), and what it says of its build.
func (f *File) Go() (info GoInfo, ok bool) {
	f.noteFault(func() { info, ok = f.goInfo() })
	return info, ok
}

// HasDebugInfo reports whether the file, or its separate debug file, has DWARF
// debugging information; a Go program linked with -w has none.
func (f *File) HasDebugInfo() bool {
	d := f.debug.Load()
	return f.ownsDebugInfo() || d != nil && d.ownsDebugInfo()
}

func (f *File) ownsDebugInfo() (ok bool) {
	f.noteFault(func() {
		_, plain := f.find(".debug_info")
		_, compressed := f.find(".zdebug_info")
		ok = plain || compressed
	})
	return ok
}

// DebugInfoName returns the name of the file that [File.DebugReader] reads and
// [File.Locate] asks: that of f, or of its separate debug file where only that has
// DWARF debugging information.
func (f *File) DebugInfoName() string {
	if d := f.debug.Load(); d != nil && !f.ownsDebugInfo() {
		return d.name
	}
	return f.name
}

// goInfo decodes .go.buildinfo (debug/buildinfo): a magic, the size of a
// pointer, flags, and at 32 the strings or, up to Go 1.17, at 16 pointers to them.
func (f *File) goInfo() (info GoInfo, ok bool) {
	i, found := f.find(".go.buildinfo")
	if !found {
		_, _, ok = f.pclntab()
		return info, ok
	}
	data, _ := f.content(i)
	if len(data) < 32 || !bytes.HasPrefix(data, []byte("\xff Go buildinf:")) {
		return info, false
	}
	var version, module []byte
	if data[15]&2 != 0 {
		rest := data[32:]
		version, rest = cutString(rest)
		module, _ = cutString(rest)
	} else if word := int(data[14]); word == 4 || word == 8 {
		order := binary.ByteOrder(binary.LittleEndian)
		if data[15]&1 != 0 {
			order = binary.BigEndian
		}
		version = f.goString(getUint(data[16:], order, word), order, word)
		module = f.goString(getUint(data[16+word:], order, word), order, word)
	}
	if len(version) > 1<<10 {
		version = nil
	}
	info.Version = string(version)
	// The module information stands between two magics of 16 bytes.
	if len(module) >= 33 && len(module) <= 4<<20 && module[len(module)-17] == '\n' {
		if build, err := debug.ParseBuildInfo(string(module[16 : len(module)-16])); err == nil {
			info.Build = build
		}
	}
	return info, true
}

func cutString(b []byte) (s, rest []byte) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil
	}
	return b[k:][:n], b[k:][n:]
}

// goString reads the Go string whose header is at address addr.
func (f *File) goString(addr uint64, order binary.ByteOrder, word int) []byte {
	header, err := f.view(addr, uint64(2*word))
	if err != nil {
		return nil
	}
	s, err := f.view(getUint(header, order, word), getUint(header[word:], order, word))
	if err != nil {
		return nil
	}
	return s
}

// pclntab returns the content of .gopclntab and its address.
func (f *File) pclntab() (data []byte, address uint64, ok bool) {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if i, ok := f.find(name); ok {
			data, err := f.content(i)
			return data, f.section(i).addr, err == nil && len(data) > 0
		}
	}
	// Other linkers make one section of all that begin with this name.
	i, ok := f.find(".data.rel.ro")
	if _, isGo := f.find(".go.buildinfo"); !ok || !isGo {
		return nil, 0, false
	}
	data, err := f.content(i)
	if err != nil {
		return nil, 0, false
	}
	for at := 0; at+goTableAlign <= len(data); at += goTableAlign {
		// The magic, two bytes of zero, the machine's step, the size of a pointer.
		if data[at+1] != 0xff || data[at+2] != 0xff || data[at+4] != 0 || data[at+5] != 0 {
			continue
		}
		if t, err := newGoTable(data[at:]); err == nil && t.count > 0 && t.namesAt > 0 && t.namesAt < uint64(len(data)-at) {
			return data[at:], f.section(i).addr + uint64(at), true
		}
	}
	return nil, 0, false
}

// goTableAlign is where in a section a table can begin.
const goTableAlign = 32
