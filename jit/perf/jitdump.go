// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/leb128"
	"github.com/clewdev/clew/internal/untrusted"
)

const (
	magic      = 0x4a695444 // in the byte order of the file
	version    = 1
	headerSize = 40
)

// FlagArchTimestamp says that times are of the machine's own counter (on x86
// the TSC), not of CLOCK_MONOTONIC in nanoseconds.
const FlagArchTimestamp uint64 = 1

// Header is the header of a jitdump.
type Header struct {
	Order   binary.ByteOrder // of the file
	Machine elf.Machine
	PID     uint32 // in the process's own namespace
	Time    uint64 // when the dump was begun; V8 uses another clock here
	Flags   uint64 // FlagArchTimestamp
}

// Jitdump is a jitdump in memory. It does not change after parsing, and is safe for
// concurrent use.
type Jitdump struct {
	Header

	// End is the offset after the last complete record. Bytes after it are a record
	// that is being written or was truncated.
	End uint64

	// Closed is true if the last record is a CodeClose. Bytes after it are not part of
	// the dump.
	Closed bool

	name   string
	data   []byte
	first  uint64 // offset of the first record
	damage error
}

// ReadJitdump reads a file, which a process may still be writing.
func ReadJitdump(path string) (*Jitdump, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("jitdump: %w", err)
	}
	return ParseJitdump(path, data)
}

// readFile reads a regular file of at most two gigabytes. A file with a hole is an error.
func readFile(path string) ([]byte, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	left := untrusted.Budget(math.MaxInt32)
	data, _, err := left.Read(f)
	return data, err
}

// ParseJitdump reads the header of a jitdump and finds its records. Data is not
// copied and must not change. name is the file's name in errors. An error is an
// *Error that wraps ErrHeader, or ErrTruncated if the header is truncated.
func ParseJitdump(name string, data []byte) (*Jitdump, error) {
	d := &Jitdump{name: name, data: data}
	fail := func(at uint64, kind error, format string, args ...any) (*Jitdump, error) {
		return nil, &Error{name, at, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
	}
	if len(data) < 4 {
		return fail(0, ErrTruncated, "%d bytes, expected a jitdump's header of %d", len(data), headerSize)
	}
	switch {
	case binary.LittleEndian.Uint32(data) == magic:
		d.Order = binary.LittleEndian
	case binary.BigEndian.Uint32(data) == magic:
		d.Order = binary.BigEndian
	default:
		return fail(0, ErrHeader, "it starts with % x, not with \"JiTD\" in either byte order", data[:4])
	}
	if len(data) < headerSize {
		return fail(0, ErrTruncated, "%d bytes, expected a jitdump's header of %d", len(data), headerSize)
	}
	c := d.cursor(4, headerSize)
	v, size, machine := c.uint32(), uint64(c.uint32()), c.uint32()
	c.uint32()
	d.PID, d.Time, d.Flags = c.uint32(), c.uint64(), c.uint64()
	d.Machine = elf.Machine(machine)
	switch {
	case v != version:
		return fail(4, ErrHeader, "version %d, expected %d", v, version)
	case size < headerSize:
		return fail(8, ErrHeader, "a header of %d bytes, expected at least %d", size, headerSize)
	case size > uint64(len(data)):
		return fail(8, ErrTruncated, "a header of %d bytes in a file of %d", size, len(data))
	case uint32(d.Machine) != machine:
		return fail(12, ErrHeader, "machine %#x, expected an ELF machine's 16 bits", machine)
	}
	d.first = size
	d.scan()
	return d, nil
}

// scan finds the end of the complete records.
func (d *Jitdump) scan() {
	for d.End = d.first; !d.Closed; {
		c := d.cursor(d.End, uint64(len(d.data)))
		if c.End-c.Off < prefixSize {
			return
		}
		id, size := RecordID(c.uint32()), uint64(c.uint32())
		if size < prefixSize {
			d.damage = &Error{d.name, d.End + 4, fmt.Errorf("%w: a size of %d bytes, expected at least %d; the rest cannot be read", ErrRecord, size, prefixSize)}
			return
		}
		if size > c.End-d.End {
			return
		}
		d.End += size
		d.Closed = id == CodeClose
	}
}

func (d *Jitdump) cursor(offset, end uint64) cursor {
	return cursor{leb128.Cursor{Data: d.data, Off: offset, End: end, Big: d.Order == binary.BigEndian, Source: (*faults)(d)}}
}

// Damage returns an *Error if a malformed record at End hides later ones. It returns
// nil if nothing or only a part of a record follows End.
func (d *Jitdump) Damage() error { return d.damage }

// Rest returns the number of bytes after End. They are the beginning of a record that
// is being written or was truncated.
func (d *Jitdump) Rest() uint64 {
	if d.Closed || d.damage != nil {
		return 0
	}
	return uint64(len(d.data)) - d.End
}

// Records yields the complete records in the order of the file. It does not
// allocate.
func (d *Jitdump) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for at := d.first; at < d.End; {
			r := d.record(at)
			if !yield(r) {
				return
			}
			at += r.Size
		}
	}
}

// record returns the complete record at an offset.
func (d *Jitdump) record(offset uint64) Record {
	c := d.cursor(offset, d.End)
	return Record{ID: RecordID(c.uint32()), Size: uint64(c.uint32()), Time: c.uint64(), Offset: offset, dump: d}
}

// machine returns the machine of the dump. The header does not distinguish widths, so
// it is the machine's usual width.
func (d *Jitdump) machine() *arch.Machine {
	data := elf.ELFDATA2LSB
	if d.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	return arch.Lookup(d.Machine, elf.ELFCLASSNONE, data)
}
