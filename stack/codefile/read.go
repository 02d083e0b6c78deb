// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot"
)

// MaxBytes bounds what a Reader reads of all files, in bytes: those of millions of functions.
const MaxBytes = math.MaxInt32

// maxMapBytes bounds a perf map, in bytes: the lines of two million functions. If a map is
// larger, its end is read, because later lines replace earlier ones.
const maxMapBytes = 128 << 20

// Reader reads the files of one target, at most two gigabytes in all, and each file
// once. It is not safe for concurrent use.
type Reader struct {
	left     untrusted.Budget
	mapLimit int64 // bytes of a perf map
	dumps    map[untrusted.Identity]readDump
}

type readDump struct {
	*Jitdump
	err error
}

// NewReader returns a Reader that has read nothing.
func NewReader() *Reader { return NewReaderBeside(0) }

// NewReaderBeside returns a Reader that has read nothing. Others have read some bytes that are in use, so it
// reads that much less.
func NewReaderBeside(used int64) *Reader {
	return &Reader{left: untrusted.Budget(MaxBytes - min(max(used, 0), MaxBytes)), mapLimit: maxMapBytes, dumps: make(map[untrusted.Identity]readDump)}
}

// Left returns how many bytes may still be read.
func (r *Reader) Left() int64 { return int64(r.left) }

// AtMost calls read, during which r reads at most some bytes of what is left.
func (r *Reader) AtMost(bytes int64, read func()) {
	kept := max(r.left-untrusted.Budget(max(bytes, 0)), 0)
	r.left -= kept
	read()
	r.left += kept
}

var errNoProcess = errors.New("the target's files are not available")

// Jitdump reads the jitdump of a marker, which may still be written. It returns an error
// if no part can be read. The Jitdump's Err describes damaged parts.
func (r *Reader) Jitdump(p *snapshot.Process, m Marker) (*Jitdump, error) {
	if p == nil && m.Open == nil {
		return nil, fmt.Errorf("%s: %w", m.Path, errNoProcess)
	}
	f, err := openMarker(p, &m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var id untrusted.Identity
	if info, err := f.Stat(); err == nil {
		id = untrusted.IdentityOf(info)
	}
	known, ok := r.dumps[id]
	if !ok {
		var data []byte
		data, _, known.err = r.left.Read(f)
		if len(data) > 0 || known.err == nil {
			known.Jitdump, known.err = newJitdump(m.Path, data, known.err)
		}
		if id != (untrusted.Identity{}) {
			r.dumps[id] = known
		}
	}
	return known.Jitdump, known.err
}

// Map reads the perf map of a process, which may still be written. It returns nil if there
// is none. A map of another process, or one that cannot be read, has no symbols, and its Err
// says why.
func (r *Reader) Map(p *snapshot.Process) (m *Map) {
	if p == nil {
		return nil
	}
	for _, id := range p.IDs {
		path := fmt.Sprintf("/tmp/perf-%d.map", id)
		f, err := p.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var data []byte
		if err == nil {
			var start int64
			if data, start, err = r.left.ReadEnd(f, r.mapLimit); start > 0 {
				data = data[bytes.IndexByte(data, '\n')+1:] // drop an incomplete line
			}
			f.Close()
		}
		if m = newMap(path, data, err); len(data) > 0 || err == nil {
			break
		}
	}
	return m
}

// DumpSize returns the size of the jitdump of a marker in bytes, or -1 if it cannot be opened.
func DumpSize(p *snapshot.Process, m Marker) int64 {
	return sizeOf(openMarker(p, &m))
}

// MapSize returns the size of the perf map of a process in bytes, or -1 if there is none.
func MapSize(p *snapshot.Process) int64 {
	for _, id := range p.IDs {
		if size := sizeOf(p.Open(fmt.Sprintf("/tmp/perf-%d.map", id))); size >= 0 {
			return size
		}
	}
	return -1
}

func sizeOf(f *os.File, err error) int64 {
	if err != nil {
		return -1
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return -1
	}
	return info.Size()
}

// Read reads a file at a path that the caller trusts, with any owner: a jitdump, or else a
// perf map; the other result is nil. The path may lead through a link of procfs, such as
// /proc/PID/root. Read returns an error if the file is neither or cannot be read.
func (r *Reader) Read(path string) (*Jitdump, *Map, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, _, err := r.left.Read(f)
	if len(data) == 0 && err != nil {
		return nil, nil, err
	}
	return Parse(path, data, err)
}

// Parse reads a jitdump or a perf map from data, which must not change afterwards. The other
// result is nil. Name is the file's name in errors, and damage the error of reading it, or
// nil. Parse returns an error if the file has neither format.
func Parse(name string, data []byte, damage error) (*Jitdump, *Map, error) {
	d, err := newJitdump(name, data, damage)
	if err == nil {
		d.Err = errors.Join(d.Err, incomplete(name, d.dump.End, d.dump.Rest(), "record"))
		return d, nil, nil
	}
	if !errors.Is(err, perf.ErrHeader) {
		return nil, nil, err
	}
	if m := newMap(name, data, damage); m.symbols.Len() > 0 {
		m.Err = errors.Join(m.Err, incomplete(name, m.symbols.End, uint64(len(data))-m.symbols.End, "line"))
		return nil, m, nil
	}
	return nil, nil, fmt.Errorf("neither a jitdump nor a perf map: %w; and none of its lines is an address, a size and a name", err)
}

// incomplete returns an error if bytes remain after the last complete entry of a file.
func incomplete(name string, end, remaining uint64, entry string) error {
	if remaining == 0 {
		return nil
	}
	return &perf.Error{File: name, Offset: end, Err: fmt.Errorf("%w: the last %d bytes are not a complete %s (is the file still being written?)", perf.ErrTruncated, remaining, entry)}
}

// fits returns an error if most functions, given by their addresses, lie where the process
// has no code: then another process wrote the file.
func fits(path string, all int, address func(i int) uint64, code func(address uint64) bool) error {
	in := 0
	for i := range all {
		if code(address(i)) {
			in++
		}
	}
	if 2*in < all {
		return fmt.Errorf("%s: %w: %d of its %d functions lie where the process has code", path, snapshot.ErrOtherProcess, in, all)
	}
	return nil
}

// Marker is a mapping by which a process announces a jitdump to perf (perf.IsMarker).
type Marker struct {
	Path  string // as the process sees it
	Inode uint64 // of the mapped file, 0 if unknown

	// Open opens the mapped file, even if another file has its path now. If it is nil,
	// the file at the path is opened.
	Open func() (*os.File, error)
}

// openMarker opens the jitdump of a marker. A file that the process has mapped may have any
// owner.
func openMarker(p *snapshot.Process, m *Marker) (*os.File, error) {
	if m.Open != nil {
		return m.Open()
	}
	if m.Inode == 0 || p.Users == nil {
		return p.Open(m.Path)
	}
	f, err := untrusted.OpenPlanted(p.Root, m.Path)
	if err != nil {
		return nil, err
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err == nil {
		if is := untrusted.IdentityOf(info); is != (untrusted.Identity{}) && is.Inode != m.Inode {
			err = fmt.Errorf("%s: not the file that was mapped (inode %d, expected %d)", m.Path, is.Inode, m.Inode)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
