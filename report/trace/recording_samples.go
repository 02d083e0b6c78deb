// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/recording"
)

// Samples writes the samples of a recording as text. The zero value is ready to use. It keeps
// the lines of frames, so it must be used for one recording only, and not concurrently.
type Samples struct {
	lines []string // of places, by their numbers
}

// Append appends a sample: a line with the name and the IDs of its thread, the time in
// seconds, the period and the event; and lines for each frame, which start with a tab.
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
	nanoseconds := len(dst)
	dst = strconv.AppendUint(dst, 1e9+s.Time%1e9, 10)
	dst[nanoseconds] = '.' // in place of the leading 1
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
	if text := endText(s.Reason); text != "" {
		dst = append(dst, "\t                 ["+text+"]\n"...)
	}
	return append(dst, '\n')
}

// appendRecordedFrame appends the lines of a frame, those of inlined calls first.
func appendRecordedFrame(dst []byte, place *stack.Frame) []byte {
	for _, c := range appendCalls(nil, place) {
		if c.Inlined {
			dst = fmt.Appendf(dst, "\t%16s %s (inlined)", "", printable.Text(c.Function))
		} else {
			dst = fmt.Appendf(dst, "\t%16x %s", place.Address, printable.Text(shownName(&c)))
			if offset, ok := place.Offset(); ok {
				dst = style.AppendHex(append(dst, '+'), offset)
			}
			dst = fmt.Appendf(dst, " (%s)", printable.Text(cmp.Or(c.Object, "no file")))
		}
		dst = append(appendSource(dst, style.Ink{}, c.File, c.Line), '\n')
	}
	return dst
}
