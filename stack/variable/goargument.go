// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
)

// GoArguments returns the arguments of the frame's function as Go's runtime writes them in
// a trace, one string each: "0x2a", or "{0xc00001234?, 0x5}" for a string. It works without
// debugging information. A question mark follows a word that can be left over from another
// use. Arguments have neither names nor types, and those of inlined calls are unknown. ok is
// false if the function is not a Go function, or nothing is known about its arguments.
func (f *Frame) GoArguments() (list []string, ok bool) {
	frame := f.frame()
	if f.place == nil || !f.place.object.Go {
		return nil, false
	}
	file, err := f.place.object.File()
	if err != nil {
		return nil, false // Name has reported it
	}
	tokens, ok := file.GoArguments(frame.Address, frame.PC != frame.LookupPC)
	cfa, known := f.CFA()
	if !ok || !known {
		return nil, false
	}
	var text strings.Builder
	depth, begins := 0, true
	for _, t := range tokens {
		if t.Kind == object.GoClose {
			if depth--; depth < 0 {
				return nil, false
			}
		} else if depth > 0 && !begins {
			text.WriteString(", ")
		}
		begins = false
		switch t.Kind {
		case object.GoOpen:
			text.WriteByte('{')
			depth, begins = depth+1, true
		case object.GoClose:
			text.WriteByte('}')
		case object.GoMore:
			text.WriteString("...")
		case object.GoFar:
			text.WriteByte('_')
		default:
			text.WriteString(f.goNumber(&t, cfa))
		}
		if depth == 0 {
			list = append(list, text.String())
			text.Reset()
		}
	}
	return list, depth == 0
}

// goNumber returns the text of a number among the arguments of a frame with a CFA.
func (f *Frame) goNumber(a *object.GoArgument, cfa uint64) string {
	at := cfa + a.Offset
	b := make([]byte, a.Size)
	if f.ReadMemory(b, at) != nil {
		return fmt.Sprintf("<error: Cannot access memory at address 0x%x>", at)
	}
	n := uint64(0)
	for k := range b {
		c := b[k]
		if f.reader.snapshot.Machine.Order == binary.LittleEndian {
			c = b[len(b)-1-k]
		}
		n = n<<8 | uint64(c)
	}
	text := "0x" + strconv.FormatUint(n, 16)
	if !a.Live {
		text += "?"
	}
	return text
}
