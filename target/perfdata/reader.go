// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// ErrFormat is wrapped by errors about what is no recording, or one of a kind
// that this package cannot read.
var ErrFormat = errors.New("not a perf.data that can be read")

// Reader reads one recording. It is not safe for concurrent use.
type Reader struct{}

// Counts is what a Reader has met so far.
type Counts struct {
	Records int64 // handed out by Next
	Bytes   int64 // of the recording that were read

	Lost        uint64 // records that could not be written: the sum of LOST
	LostSamples uint64 // the sum of LOST_SAMPLES

	Late    int64 // records that came after one of a later time
	Bad     int64 // records with Err
	Unknown int64 // records of a type that this package does not know
}

// Open opens the recording at path: what perf record writes to a file, or wrote
// to a pipe. The caller must close the Reader.
func Open(path string) (*Reader, error) { panic("not yet") }

// NewReader reads a recording from src. A stream (perf record -o -) is read as it
// comes. A recording that was written to a file has its header at its end: if src
// is not an io.ReaderAt that is also an io.Seeker it is first copied to a
// temporary file. The caller must close the Reader; that does not close src.
func NewReader(src io.Reader) (*Reader, error) { panic("not yet") }

// Close releases what the Reader holds. Records of it must not be used after.
func (r *Reader) Close() error { return nil }

// Next returns the next record, in the order that the package comment tells. At
// the end of the recording the error is io.EOF. Any other error is of the whole
// recording, and stays: it wraps io.ErrUnexpectedEOF where the recording was cut,
// and all records before that were handed out. The error of one record is in
// Record.Err.
func (r *Reader) Next() (*Record, error) { panic("not yet") }

// Header returns what the recording says of itself. Of a stream it is complete
// when the first sample is handed out, but for the times of the first and last
// sample. The caller must not change it.
func (r *Reader) Header() *Header { return nil }

// Attributes returns the events that were recorded, those of SampleID.Attribute.
// Of a stream it is complete when the first sample is handed out. The caller must
// not change them.
func (r *Reader) Attributes() []Attribute { return nil }

// BuildIDs returns the build IDs that the recording lists. Of a stream they come
// at its end, if at all (perf inject -b puts them where the file is first needed).
// The caller must not change them.
func (r *Reader) BuildIDs() []BuildID { return nil }

// Machine returns the machine that was recorded, or nil where the recording does
// not tell (it was cut) or package arch does not know it.
func (r *Reader) Machine() *arch.Machine { return nil }

// Order returns the byte order of the recording, and so of the recorded machine:
// of Record.Raw, Sample.UserStack, Sample.Raw.
func (r *Reader) Order() binary.ByteOrder { return nil }

// Pipe reports whether the recording is a stream.
func (r *Reader) Pipe() bool { return false }

// Counts returns what was met so far.
func (r *Reader) Counts() Counts { return Counts{} }

// Registers sets *regs to the registers of the set, by the DWARF columns of the
// machine that the thread ran as, and returns that machine: m, or for ABI32 on a
// machine of 64 bits the one of 32 (i386 of x86-64, arm of arm64). It returns nil
// and leaves *regs as it was where there are no registers, no program counter is
// among them, or the machine's numbers are not known.
func (s *RegisterSet) Registers(m *arch.Machine, regs *unwind.Registers) *arch.Machine { return nil }
