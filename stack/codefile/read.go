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

// maxBytes bounds what is read of all files of a target, in bytes: those of
// millions of functions.
const maxBytes = math.MaxInt32

// maxMapBytes bounds a perf map, in bytes: the lines of two million functions. Of a
// larger one the end is read, as later lines replace earlier ones.
const maxMapBytes = 128 << 20

// Reader reads the files of one target, at most two gigabytes in all, and each file
// once. It is not safe for concurrent use.
type Reader struct {
	left  untrusted.Budget
	ofMap int64 // bytes of a perf map
	dumps map[untrusted.Identity]readDump
}

type readDump struct {
	*Jitdump
	err error
}

// NewReader returns a Reader that has read nothing.
func NewReader() *Reader {
	return &Reader{left: maxBytes, ofMap: maxMapBytes, dumps: make(map[untrusted.Identity]readDump)}
}

var errNoProcess = errors.New("files of the target are not to be had")

// Jitdump reads the jitdump of a marker, as far as it is written. It returns nil with
// an error; the Jitdump's Err describes damaged parts.
func (r *Reader) Jitdump(p *snapshot.Process, m Marker) (*Jitdump, error) {
	if p == nil && m.Open == nil {
		return nil, fmt.Errorf("%s: %w", m.Path, errNoProcess)
	}
	f, err := openMarker(p, &m)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	is := untrusted.Identity{}
	if info, err := f.Stat(); err == nil {
		is = untrusted.IdentityOf(info)
	}
	known, ok := r.dumps[is]
	if !ok {
		var data []byte
		data, known.err = r.read(f)
		if len(data) > 0 || known.err == nil {
			known.Jitdump, known.err = newJitdump(m.Path, data, known.err)
		}
		if is != (untrusted.Identity{}) {
			r.dumps[is] = known
		}
	}
	return known.Jitdump, known.err
}

// Map reads the perf map of a process, as far as it is written. It returns nil if
// there is none. A map of another process, or one that cannot be read, has no symbols,
// and its Err says why.
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
			if data, start, err = r.left.ReadEnd(f, r.ofMap); start > 0 {
				data = data[bytes.IndexByte(data, '\n')+1:] // the rest of a line
			}
			f.Close()
		}
		if m = newMap(path, data, err); len(data) > 0 || err == nil {
			break
		}
	}
	return m
}

// read reads a file as far as the Reader may: with what was read comes an error
// where that is not all.
func (r *Reader) read(f *os.File) ([]byte, error) {
	data, _, err := r.left.Read(f)
	return data, err
}

// Read reads a file at a path that the caller trusts, whoever owns it: a jitdump, or else
// a perf map; the other one is nil. The path may lead through a link of procfs, as
// /proc/PID/root. The error is that of a file that is neither, or cannot be read.
func (r *Reader) Read(path string) (*Jitdump, *Map, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := r.read(f)
	if len(data) == 0 && err != nil {
		return nil, nil, err
	}
	return Parse(path, data, err)
}

// Parse reads a jitdump or a perf map from memory, which must not change afterwards.
// It returns nil for the other one. Errors call the file name; damage is a known
// damage of the file, or nil. Parse fails if the file has neither format.
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

// incomplete returns an error where a file ends with a part of something.
func incomplete(name string, end, rest uint64, what string) error {
	if rest == 0 {
		return nil
	}
	return &perf.Error{File: name, Offset: end, Err: fmt.Errorf("%w: the last %d bytes are not a complete %s: the file is still being written, or was cut off", perf.ErrTruncated, rest, what)}
}

// fits returns an error where most functions, given by their addresses, lie where
// the process has no code: then another process has written of them.
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
