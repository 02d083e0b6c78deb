// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import "io"

// source is where the bytes of a lane come from.
type source interface {
	// read is as io.Reader.Read, but returns no bytes together with an error.
	read(p []byte) (int, error)
	// skip passes over n bytes, and fails where there are fewer.
	skip(n int64) error
	// at returns the offset in the recording of what is read next.
	at() int64
}

// fileSource reads a part of a file.
type fileSource struct {
	file     io.ReaderAt
	pos, end int64
	// cut is the error where the file ends before end, and atEnd that at the end:
	// io.EOF, unless something is wrong with the recording.
	cut, atEnd error
}

func (s *fileSource) at() int64 { return s.pos }

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
