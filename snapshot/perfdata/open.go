// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/untrusted"
)

// Open opens the recording at path: a file that perf record wrote, a stream of perf record
// that was saved to a file, or a folder of perf record --threads. The caller must close
// the Reader.
func Open(path string) (*Reader, error) {
	r := newReader()
	if err := r.open(path); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func newReader() *Reader {
	return &Reader{header: Header{Clock: Clock{ID: -1}}, ids: make(map[uint64]int32)}
}

func (r *Reader) open(path string) error {
	f, irregular := r.openFile(path)
	if irregular == nil {
		return r.read(f)
	}
	if !errors.Is(irregular, untrusted.ErrNotRegular) {
		return irregular
	}
	// tools/perf/util/data.c: "data" is an ordinary recording with the header. data.0 and
	// so on are records.
	f, err := r.openFile(filepath.Join(path, "data"))
	if errors.Is(err, syscall.ENOTDIR) {
		return irregular
	}
	if err != nil {
		return err
	}
	if err := r.read(f); err != nil {
		return err
	}
	for i := 0; ; i++ {
		f, err := r.openFile(filepath.Join(path, "data."+strconv.Itoa(i)))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return bare(err)
		}
		r.lanes = append(r.lanes, newLane(r, newFileSource(f, 0, info.Size())))
	}
}

func (r *Reader) openFile(path string) (*os.File, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return nil, bare(err)
	}
	r.files = append(r.files, f)
	return f, nil
}

// bare returns the cause of an error that repeats the path.
func bare(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// NewReader reads a recording from src. If src is both an [io.ReaderAt] and an [io.Seeker]
// (a file), NewReader reads it from its beginning, and maps a regular file. Otherwise it
// reads src once. It reads a stream (perf record -o -) record by record. It first copies a
// recording in the format of a file to a temporary file, because parts of its header are at
// the end. The caller must close the Reader, which does not close src.
func NewReader(src io.Reader) (*Reader, error) {
	r := newReader()
	if err := r.read(src); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) read(src io.Reader) error {
	file, isFile := src.(interface {
		io.ReaderAt
		io.Seeker
	})
	size := int64(0)
	if isFile {
		// A file that does not support seeking, such as a pipe, returns an error.
		end, err := file.Seek(0, io.SeekEnd)
		size, isFile = end, err == nil
	}
	magic := make([]byte, magicSize)
	var n int
	var err error
	if isFile {
		n, err = file.ReadAt(magic, 0)
	} else {
		n, err = io.ReadFull(src, magic)
	}
	if n < magicSize {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("%w: it has %d bytes, at least %d expected: %w", ErrFormat, n, magicSize, io.ErrUnexpectedEOF)
		}
		return bare(err)
	}
	if err := r.readMagic(magic); err != nil {
		return err
	}
	if r.pipe {
		if isFile {
			r.lanes = []*lane{newLane(r, newFileSource(file, magicSize, size))}
		} else {
			r.lanes = []*lane{newLane(r, &streamSource{src: src, pos: magicSize})}
		}
		return nil
	}
	if !isFile {
		if file, size, err = r.spool(magic, src); err != nil {
			return err
		}
	}
	data, err := r.readHeader(file, size)
	if err != nil {
		return err
	}
	r.lanes = []*lane{newLane(r, data)}
	return nil
}

// spool copies a recording to a temporary file.
func (r *Reader) spool(magic []byte, src io.Reader) (*os.File, int64, error) {
	f, err := outputfile.Temporary("")
	if err != nil {
		return nil, 0, err
	}
	r.files = append(r.files, f)
	if _, err := f.Write(magic); err != nil {
		return nil, 0, err
	}
	n, err := io.Copy(f, src)
	return f, magicSize + n, err
}

// Close releases the Reader's resources. Its records must not be used afterwards.
func (r *Reader) Close() error {
	for _, l := range r.lanes {
		l.close()
	}
	r.pool.close()
	r.lanes, r.held = nil, nil
	if r.err == nil {
		r.err = errClosed
	}
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	r.files = nil
	return err
}
