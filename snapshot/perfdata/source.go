// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"io"
	"os"

	"github.com/clewdev/clew/internal/filemap"
)

// source has the bytes of a lane.
type source interface {
	// read is like io.Reader.Read, but returns no bytes together with an error.
	read(p []byte) (int, error)
	// view maps the last back bytes that were read and the bytes that follow, and skips
	// the latter. It returns nil if nothing can be mapped.
	view(back int) *filemap.Mapping
	// skip skips n bytes, and fails if there are fewer.
	skip(n int64) error
	// at returns the offset of the next read in the recording.
	at() int64
}

// viewSize is the number of bytes of a file that are mapped at a time.
const viewSize = 1 << 20

// fileSource reads a part of a file.
type fileSource struct {
	file     io.ReaderAt
	pos, end int64
	mappable *os.File // file, if it can be mapped
	// cut is the error if the file ends before end. atEnd is the error at the end: io.EOF,
	// unless the recording is damaged.
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
		s.mappable = nil // some file systems do not support it
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

// streamSource reads a file that does not support seeking.
type streamSource struct {
	src io.Reader
	pos int64
}

func (s *streamSource) at() int64 { return s.pos }

func (s *streamSource) view(int) *filemap.Mapping { return nil }

func (s *streamSource) read(p []byte) (int, error) {
	// An io.Reader may return no bytes and no error, and io.ReadAtLeast waits for ever then.
	// The number of tries is therefore limited.
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
