// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"encoding/binary"
	"iter"
)

// RecordID is the type of a record (jitdump specification, version 1).
type RecordID uint32

const (
	CodeLoad          RecordID = 0 // a function was generated
	CodeMove          RecordID = 1 // a function was moved
	CodeDebugInfo     RecordID = 2 // source lines of the next CodeLoad
	CodeClose         RecordID = 3 // no further record follows
	CodeUnwindingInfo RecordID = 4 // unwind table of the next CodeLoad
)

// prefixSize is the size of the prefix of every record: its ID, its size and its time.
// The sizes of records include it.
const (
	prefixSize    = 16
	loadSize      = prefixSize + 40 // before the name
	moveSize      = prefixSize + 48
	debugSize     = prefixSize + 16 // before the entries
	unwindingSize = prefixSize + 24 // before the table
)

// Record is a record of a Jitdump.
type Record struct {
	ID     RecordID // skip records of unknown types
	Offset uint64   // in the file
	Size   uint64   // in bytes, with the prefix
	Time   uint64   // by the clock of Header.Flags

	dump *Jitdump
}

// Load is the body of a CodeLoad.
type Load struct {
	PID, TID uint32
	VMA      uint64 // the link-time address: usually Address; LLVM writes 0
	Address  uint64 // run-time address
	Index    uint64 // the function's number in the dump, used by CodeMove
	Name     string
	Code     []byte
}

// Move is the body of a CodeMove.
type Move struct {
	PID, TID uint32
	VMA      uint64
	From, To uint64 // old and new address of the code
	Size     uint64 // of the code, bytes
	Index    uint64 // of the CodeLoad
}

// DebugInfo is the body of a CodeDebugInfo.
type DebugInfo struct {
	Address uint64 // of the function
	Count   uint64 // of entries

	entries cursor
	left    uint64 // bytes of the record after the entries
}

// DebugEntry gives the source line of the code from an address on.
type DebugEntry struct {
	Address uint64 // absolute; V8 and LLVM add 0x40 to it
	Line    int32  // from 1; 0 if there is none
	// Discriminator is the column or DWARF's discriminator, depending on the writer.
	Discriminator int32
	File          string
}

// UnwindingInfo is the body of a CodeUnwindingInfo. Its PC-relative pointers are valid if
// the tables follow the code, the first one at the next multiple of 8 bytes from the
// start of the code.
type UnwindingInfo struct {
	// MappedSize is the number of bytes after the code, from the next multiple of 8
	// bytes on, that perf regards as the tables.
	MappedSize uint64

	EHFrame     []byte // the section .eh_frame; empty in V8's dumps
	Header      []byte // the section .eh_frame_hdr
	HeaderFirst bool   // the header is first, as in the specification; no known writer does that
}

// body returns a cursor after the prefix.
func (r *Record) body() cursor {
	c := r.dump.cursor(r.Offset, r.Offset+r.Size)
	c.Bytes(prefixSize)
	return c
}

// Load reads a CodeLoad. The result aliases the dump. It does not allocate unless it
// fails; the error is an *Error. The same holds for the readers of other records.
func (r *Record) Load() (Load, error) {
	c := r.body()
	l := Load{PID: c.uint32(), TID: c.uint32(), VMA: c.uint64(), Address: c.uint64()}
	size := c.uint64()
	l.Index = c.uint64()
	l.Name = c.string()
	// perf uses the last bytes of the record, regardless of the bytes before them.
	left := c.End - c.Off
	switch {
	case c.Err != nil:
	case size > left:
		c.fail(r.Offset+prefixSize+24, ErrRecord, "code of %#x bytes, but only %#x are left", size, left)
	case l.Address+size < l.Address:
		c.fail(r.Offset+prefixSize+16, ErrRecord, "%#x bytes of code at %#x pass the end of the address space", size, l.Address)
	default:
		l.Code = c.Data[c.End-size : c.End : c.End]
	}
	if c.Err != nil {
		return Load{}, c.Err
	}
	return l, nil
}

// Move reads a CodeMove.
func (r *Record) Move() (Move, error) {
	c := r.body()
	m := Move{PID: c.uint32(), TID: c.uint32(), VMA: c.uint64(), From: c.uint64(), To: c.uint64(), Size: c.uint64(), Index: c.uint64()}
	if c.Err != nil {
		return Move{}, c.Err
	}
	return m, nil
}

// DebugInfo reads a CodeDebugInfo. If there is an error, it also returns the entries
// before the fault.
func (r *Record) DebugInfo() (DebugInfo, error) {
	c := r.body()
	d := DebugInfo{Address: c.uint64()}
	count := c.uint64()
	d.entries = c
	for ; d.Count < count && c.Err == nil; d.Count++ {
		c.Bytes(16)
		c.string()
	}
	if c.Err != nil {
		d.Count = max(d.Count, 1) - 1
		return d, c.Err
	}
	d.left = c.End - c.Off
	return d, nil
}

// garbled reports whether more bytes follow the entries than pad a record. V8 (at least
// 11.3) writes file names out of freed memory: a zero byte in a name ends it early, and
// the bytes after it are not an entry.
func (d *DebugInfo) garbled() bool { return d.left >= 8 }

// Entries yields the entries in the order of the file.
func (d DebugInfo) Entries() iter.Seq[DebugEntry] {
	return func(yield func(DebugEntry) bool) {
		c, file := d.entries, ""
		for range d.Count {
			e := DebugEntry{Address: c.uint64(), Line: int32(c.uint32()), Discriminator: int32(c.uint32())}
			// Linux's jitdump.h: "\xff" repeats the name of the previous entry.
			if e.File = c.string(); e.File == "\xff" {
				e.File = file
			}
			file = e.File
			if !yield(e) {
				return
			}
		}
	}
}

// UnwindingInfo reads a CodeUnwindingInfo.
func (r *Record) UnwindingInfo() (UnwindingInfo, error) {
	c := r.body()
	size, header := c.uint64(), c.uint64()
	u := UnwindingInfo{MappedSize: c.uint64()}
	if c.Err == nil && header > size {
		c.fail(r.Offset+prefixSize+8, ErrRecord, "an .eh_frame_hdr of %#x bytes, but both tables have %#x", header, size)
	}
	both := c.Bytes(size)
	if c.Err != nil {
		return UnwindingInfo{}, c.Err
	}
	table := size - header
	if u.HeaderFirst = headerFirst(both, header, r.dump.Order); u.HeaderFirst {
		u.Header, u.EHFrame = both[:header:header], both[header:]
	} else {
		u.EHFrame, u.Header = both[:table:table], both[table:]
	}
	return u, nil
}

// headerFirst reports whether the tables begin with an .eh_frame_hdr of size header.
// The first entry of an .eh_frame is a CIE, so its second word is 0. The second word of
// a header is its pointer to the .eh_frame, which is not 0.
func headerFirst(both []byte, header uint64, order binary.ByteOrder) bool {
	return header >= 8 && uint64(len(both))-header >= 8 &&
		both[0] == 1 && order.Uint32(both[4:]) != 0 && order.Uint32(both[header+4:]) == 0
}
