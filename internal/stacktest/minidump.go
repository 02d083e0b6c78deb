// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package stacktest

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
)

// MinidumpOptions changes the content of a Minidump. Breakpad's dumps are the zero value: the
// stacks, the modules, and the text files of /proc.
type MinidumpOptions struct {
	Full     bool // with all readable memory, in a Memory64List
	OldARM64 bool // the older layout of arm64's contexts
	NoMaps   bool // without LinuxMaps
	PDB70    bool // build IDs as GUIDs, of 16 bytes
	Auxv     []byte
}

// minidump is a minidump that is being written.
type minidump struct {
	b       []byte
	streams []byte // the directory's entries
}

var le = binary.LittleEndian

// put appends data, and returns its offset.
func (d *minidump) put(data []byte) uint32 {
	for len(d.b)%8 != 0 {
		d.b = append(d.b, 0)
	}
	at := len(d.b)
	d.b = append(d.b, data...)
	return uint32(at)
}

func (d *minidump) stream(typ uint32, data []byte) {
	d.streams = quads(d.streams, typ, uint32(len(data)), d.put(data))
}

func (d *minidump) text(s string) uint32 {
	units := utf16.Encode([]rune(s))
	b := quads(nil, uint32(2*len(units)))
	for _, u := range append(units, 0) {
		b = le.AppendUint16(b, u)
	}
	return d.put(b)
}

func quads(b []byte, v ...uint32) []byte {
	for _, v := range v {
		b = le.AppendUint32(b, v)
	}
	return b
}

// Types of streams; package snapshot/minidump describes them.
const (
	streamThreads, streamModules, streamMemory, streamException, streamSystem, streamMemory64, streamNames = 3, 4, 5, 6, 7, 9, 24

	streamStatus, streamCommand, streamAuxv, streamMaps = 0x47670004, 0x47670006, 0x47670008, 0x47670009
)

// Minidump returns a minidump of a snapshot, in Breakpad's format for Linux. The threads
// must stand still.
func Minidump(t testing.TB, s *snapshot.Snapshot, opts MinidumpOptions) []byte {
	t.Helper()
	d := &minidump{b: make([]byte, 32)}
	architecture, ok := map[elf.Machine]uint16{elf.EM_X86_64: 9, elf.EM_386: 0, elf.EM_AARCH64: 12, elf.EM_ARM: 5}[s.Machine.ELF]
	if !ok {
		t.Fatalf("no layout of minidumps for %s", s.Machine.Name)
	}
	if opts.OldARM64 {
		architecture = 0x8003
	}
	system := make([]byte, 56)
	le.PutUint16(system, architecture)
	le.PutUint32(system[20:], 0x8201) // Linux
	d.stream(streamSystem, system)
	d.threads(s, opts)
	if signal := s.Signal; signal != nil {
		b := make([]byte, 168)
		le.PutUint32(b, uint32(signal.Thread))
		le.PutUint32(b[8:], uint32(signal.Number))
		le.PutUint32(b[12:], uint32(signal.Code))
		le.PutUint64(b[24:], signal.Address)
		for i := range s.Threads {
			if s.Threads[i].ID == signal.Thread {
				context := contextOf(s, &s.Threads[i], opts)
				copy(b[160:], quads(nil, uint32(len(context)), d.put(context)))
			}
		}
		d.stream(streamException, b)
	}
	d.modules(s, opts)
	if opts.Full {
		d.memory64(s)
	}
	d.stream(streamStatus, fmt.Appendf(nil, "Name:\t%s\nPid:\t%d\nUid:\t0\t0\t0\t0\n", s.Threads[0].Name, s.PID))
	d.stream(streamCommand, []byte(strings.ReplaceAll(s.Command, " ", "\x00")+"\x00"))
	if opts.Auxv != nil {
		d.stream(streamAuxv, opts.Auxv)
	}
	if !opts.NoMaps {
		d.stream(streamMaps, mapsText(s))
	}
	copy(d.b, "MDMP")
	at := d.put(d.streams)
	copy(d.b[4:], quads(nil, 0xa793, uint32(len(d.streams)/12), at))
	return d.b
}

func mapsText(s *snapshot.Snapshot) (b []byte) {
	for i := range s.Mappings {
		m, perms := &s.Mappings[i], []byte("---p")
		for j, set := range []bool{m.Readable, m.Writable, m.Executable} {
			if set {
				perms[j] = "rwx"[j]
			}
		}
		inode := m.Inode
		if inode == 0 && strings.HasPrefix(m.Path, "/") {
			inode = 1
		}
		path := m.Path
		if m.Deleted {
			path += " (deleted)"
		}
		b = fmt.Appendf(b, "%x-%x %s %08x 00:00 %d                          %s\n", m.Start, m.End, perms, m.Offset, inode, path)
	}
	return b
}

// stackLimit is the maximum size of the dumped part of a stack, in bytes.
const stackLimit = 256 << 10

// threads writes the threads and their stacks, which are also in the list of memory.
func (d *minidump) threads(s *snapshot.Snapshot, opts MinidumpOptions) {
	list, memory, names := quads(nil, uint32(len(s.Threads))), quads(nil, 0), quads(nil, 0)
	for i := range s.Threads {
		thread := &s.Threads[i]
		sp, _ := thread.Registers.Get(uint64(s.Machine.StackPointer))
		entry := make([]byte, 48)
		le.PutUint32(entry, uint32(thread.ID))
		if m := s.Mapping(sp); m != nil {
			start := max(m.Start, sp-128)
			stack := make([]byte, min(m.End-start, stackLimit))
			if s.ThreadMemory(thread).ReadMemory(stack, start) == nil {
				le.PutUint64(entry[24:], start)
				copy(entry[32:], quads(nil, uint32(len(stack)), d.put(stack)))
				memory = append(memory, entry[24:40]...)
				le.PutUint32(memory, le.Uint32(memory)+1)
			}
		}
		context := contextOf(s, thread, opts)
		copy(entry[40:], quads(nil, uint32(len(context)), d.put(context)))
		list = append(list, entry...)
		if thread.Name != "" {
			names = le.AppendUint64(quads(names, uint32(thread.ID)), uint64(d.text(thread.Name)))
			le.PutUint32(names, le.Uint32(names)+1)
		}
	}
	d.stream(streamThreads, list)
	d.stream(streamMemory, memory)
	d.stream(streamNames, names)
}

// contextOf returns the context of a thread: MDRawContext of the machine.
func contextOf(s *snapshot.Snapshot, thread *snapshot.Thread, opts MinidumpOptions) []byte {
	get := func(column uint64) uint64 { v, _ := thread.Registers.Get(column); return v }
	var b []byte
	switch s.Machine.ELF {
	case elf.EM_X86_64:
		b = make([]byte, 1232)
		le.PutUint32(b[48:], 0x10000b)
		for i, column := range []uint64{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15} {
			le.PutUint64(b[120+8*i:], get(column))
		}
		le.PutUint64(b[248:], thread.Registers.PC)
		copy(b[256:768], thread.Vectors)
	case elf.EM_386:
		b = make([]byte, 716)
		le.PutUint32(b, 0x10007)
		for i, column := range []uint64{7, 6, 3, 2, 1, 0, 5} {
			le.PutUint32(b[156+4*i:], uint32(get(column)))
		}
		le.PutUint32(b[184:], uint32(thread.Registers.PC))
		le.PutUint32(b[196:], uint32(get(4)))
	case elf.EM_ARM:
		b = make([]byte, 368)
		le.PutUint32(b, 0x40000006)
		for i := range 15 {
			le.PutUint32(b[4+4*i:], uint32(get(uint64(i))))
		}
		le.PutUint32(b[64:], uint32(thread.Registers.PC))
	case elf.EM_AARCH64:
		b = make([]byte, 912)
		le.PutUint32(b, 0x400007)
		floats := 272
		if opts.OldARM64 {
			b, floats = b[:796], 284
			le.PutUint64(b, 0x80000006)
		}
		for i := range 32 {
			le.PutUint64(b[8+8*i:], get(uint64(i)))
		}
		le.PutUint64(b[264:], thread.Registers.PC)
		if len(thread.Vectors) == 528 {
			copy(b[floats:], thread.Vectors[:512])
		}
	}
	return b
}

// modules writes the mapped ELF files.
func (d *minidump) modules(s *snapshot.Snapshot, opts MinidumpOptions) {
	list := quads(nil, 0)
	for i := 0; i < len(s.Mappings); i++ {
		first := &s.Mappings[i]
		if first.Path == "" || first.Offset != 0 {
			continue
		}
		f, err := object.FromMemory(s.Memory, first.Start, first.Path)
		if err != nil {
			continue
		}
		end := first.End
		for ; i+1 < len(s.Mappings) && s.Mappings[i+1].Path == first.Path; i++ {
			end = s.Mappings[i+1].End
		}
		record := append([]byte("LEpB"), f.BuildID()...)
		if opts.PDB70 {
			record = append(append([]byte("RSDS"), f.BuildID()[:16]...), 0, 0, 0, 0, 0)
		}
		entry := make([]byte, 108)
		le.PutUint64(entry, first.Start)
		le.PutUint32(entry[8:], uint32(end-first.Start))
		le.PutUint32(entry[20:], d.text(first.Path))
		copy(entry[76:], quads(nil, uint32(len(record)), d.put(record)))
		list = append(list, entry...)
		le.PutUint32(list, le.Uint32(list)+1)
	}
	d.stream(streamModules, list)
}

// memory64 writes all readable memory.
func (d *minidump) memory64(s *snapshot.Snapshot) {
	const maxMapping = 16 << 20 // bytes
	var ranges, content []byte
	for i := range s.Mappings {
		m := &s.Mappings[i]
		b := make([]byte, min(m.End-m.Start, maxMapping))
		if !m.Readable || s.Memory.ReadMemory(b, m.Start) != nil {
			continue
		}
		ranges = le.AppendUint64(le.AppendUint64(ranges, m.Start), uint64(len(b)))
		content = append(content, b...)
	}
	at := d.put(content)
	list := le.AppendUint64(le.AppendUint64(nil, uint64(len(ranges)/16)), uint64(at))
	d.stream(streamMemory64, slices.Concat(list, ranges))
}
