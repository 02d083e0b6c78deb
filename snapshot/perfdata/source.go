// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"io"
	"os"

	"github.com/clewdev/clew/internal/filemap"
)

// source is where the bytes of a lane come from.
type source interface {
	// read is as io.Reader.Read, but returns no bytes together with an error.
	read(p []byte) (int, error)
	// view maps what was read last, back bytes of it, and what comes next, and
	// passes over that. It returns nil where nothing can be mapped.
	view(back int) *filemap.Mapping
	// skip passes over n bytes, and fails where there are fewer.
	skip(n int64) error
	// at returns the offset in the recording of what is read next.
	at() int64
}

// viewSize is how much of a file is mapped at a time.
const viewSize = 1 << 20

// fileSource reads a part of a file.
type fileSource struct {
	file     io.ReaderAt
	pos, end int64
	mappable *os.File // file, if it can be mapped
	// cut is the error where the file ends before end, and atEnd that at the end:
	// io.EOF, unless something is wrong with the recording.
	cut, atEnd error
}

func newFileSource(file io.ReaderAt, pos, end int64) *fileSource {
	s := &fileSource{file: file, pos: pos, end: end, cut: io.ErrUnexpectedEOF, atEnd: io.EOF}
	if f, ok := file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.mappable = f
		}
	}
	return s
}

func (s *fileSource) at() int64 { return s.pos }

func (s *fileSource) view(back int) *filemap.Mapping {
	if s.mappable == nil || s.pos >= s.end {
		return nil
	}
	start, end := s.pos-int64(back), min(s.pos+viewSize, s.end)
	m, err := filemap.Map(s.mappable, s.mappable.Name(), start, end-start)
	if err != nil {
		s.mappable = nil // as of some file systems
		return nil
	}
	s.pos = end
	return m
}

func (s *fileSource) read(p []byte) (int, error) {
	if s.pos >= s.end {
		return 0, s.atEnd
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), s.end-s.pos)], s.pos)
	s.pos += int64(n)
	switch {
	case n > 0:
		return n, nil
	case err == nil || err == io.EOF:
		return 0, s.cut
	}
	return 0, err
}

func (s *fileSource) skip(n int64) error {
	if n > s.end-s.pos {
		return io.ErrUnexpectedEOF
	}
	s.pos += n
	return nil
}

// streamSource reads what cannot be sought in.
type streamSource struct {
	src io.Reader
	pos int64
}

func (s *streamSource) at() int64 { return s.pos }

func (s *streamSource) view(int) *filemap.Mapping { return nil }

func (s *streamSource) read(p []byte) (int, error) {
	// An io.Reader may return nothing and no error; as io.ReadAtLeast does not, this
	// does not wait for ever.
	for range 100 {
		n, err := s.src.Read(p)
		s.pos += int64(n)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

func (s *streamSource) skip(n int64) error {
	k, err := io.CopyN(io.Discard, s.src, n)
	s.pos += k
	return err
}
