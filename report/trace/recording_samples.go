// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/recording"
)

// Samples writes the samples of a recording as text. It remembers the
// lines of places.
type Samples struct {
	lines []string // of places, by their numbers
}

// Append appends a sample as lines: its thread's name, process and thread, the time
// in seconds, the period and the event, and each frame after a tab.
func (r *Samples) Append(dst []byte, s *recording.Sample) []byte {
	t := s.Thread
	dst = append(dst, printable.Text(t.Name)...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(t.PID), 10)
	dst = append(dst, '/')
	dst = strconv.AppendInt(dst, int64(t.TID), 10)
	if s.HasCPU {
		dst = fmt.Appendf(dst, " [%03d]", s.CPU)
	}
	dst = append(dst, ' ')
	dst = strconv.AppendUint(dst, s.Time/1e9, 10)
	dst = append(dst, '.')
	nanoseconds := strconv.AppendUint(nil, 1e9+s.Time%1e9, 10)
	dst = append(dst, nanoseconds[1:]...)
	dst = append(dst, ": "...)
	dst = strconv.AppendUint(dst, s.Period, 10)
	dst = append(dst, ' ')
	dst = append(dst, printable.Text(s.Event.Name)...)
	dst = append(dst, ":\n"...)
	for n, c := range s.Frames {
		for n >= len(r.lines) {
			r.lines = append(r.lines, "")
		}
		if r.lines[n] == "" {
			r.lines[n] = string(appendRecordedFrame(nil, c))
		}
		dst = append(dst, r.lines[n]...)
	}
	if s.End != recording.Whole && s.End != recording.Chain {
		dst = append(dst, "\t                 ["...)
		dst = append(dst, s.End.String()...)
		dst = append(dst, "]\n"...)
	}
	return append(dst, '\n')
}

// appendRecordedFrame appends the lines of a frame: those of inlined calls first.
func appendRecordedFrame(dst []byte, place *stack.Code) []byte {
	for _, c := range appendRecorded(nil, place) {
		if c.Inlined {
			dst = append(dst, "\t                 "...)
			dst = append(dst, printable.Text(c.Function)...)
			dst = append(dst, " (inlined)"...)
		} else {
			dst = append(dst, '\t')
			dst = appendAligned(dst, place.Address, 16)
			dst = append(dst, ' ')
			dst = append(dst, printable.Text(shownName(&c))...)
			if offset, ok := place.Offset(); ok {
				dst = append(dst, "+0x"...)
				dst = strconv.AppendUint(dst, offset, 16)
			}
			dst = append(dst, " ("...)
			dst = append(dst, printable.Text(cmp.Or(c.Object, "no file"))...)
			dst = append(dst, ')')
		}
		dst = appendSource(dst, c.File, c.Line)
	}
	return dst
}

func appendSource(dst []byte, file string, line int) []byte {
	if file != "" {
		dst = append(dst, " at "...)
		dst = append(dst, printable.Text(file)...)
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(line), 10)
	}
	return append(dst, '\n')
}

// appendAligned appends a number in hexadecimal, with spaces before it.
func appendAligned(dst []byte, v uint64, width int) []byte {
	var b [16]byte
	digits := strconv.AppendUint(b[:0], v, 16)
	for range width - len(digits) {
		dst = append(dst, ' ')
	}
	return append(dst, digits...)
}
