// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package exchange

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// slow returns one byte, and io.EOF before the next one.
type slow struct {
	data []byte
	more bool
}

func (s *slow) Read(p []byte) (int, error) {
	if s.more = !s.more; s.more || len(s.data) == 0 {
		return 0, io.EOF
	}
	p[0], s.data = s.data[0], s.data[1:]
	return 1, nil
}

func TestStream(t *testing.T) {
	var file bytes.Buffer
	if err := Send(&file, iotest.OneByteReader(strings.NewReader("abc"))); err != nil {
		t.Fatal(err)
	}
	if want := "\x01\x00\x00\x00a\x01\x00\x00\x00b\x01\x00\x00\x00c\x00\x00\x00\x00"; file.String() != want {
		t.Errorf("%q, want %q", file.String(), want)
	}
	var got bytes.Buffer
	if err := Receive(&got, &slow{data: append(file.Bytes(), "after the end"...)}, nil); err != nil || got.String() != "abc" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

func TestStreamStopped(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	var got bytes.Buffer
	if err := Receive(&got, strings.NewReader("\x02\x00\x00\x00ab\x05\x00"), stop); err != nil || got.String() != "ab" {
		t.Errorf("%q, %v", got.String(), err)
	}
	if err := Receive(&got, strings.NewReader("\x01\x00\x01\x00"), stop); err == nil {
		t.Error("a block that is too long is taken")
	}
}
