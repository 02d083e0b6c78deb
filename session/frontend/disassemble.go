// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"sort"

	"github.com/clewdev/clew/session"
)

const maxDecoded = 1 << 16 // bytes of one function that Before decodes

// Before returns the last count instructions before an address, or fewer if there are
// fewer. It decodes from the starts of functions, because other starts of instructions are
// unknown.
func Before(s *session.Session, address uint64, count int) []session.Instruction {
	var list []session.Instruction
	for end := address; len(list) < count; {
		start, ok := functionBefore(s, end)
		if !ok {
			break
		}
		part := decode(s, start, end)
		if len(part) == 0 {
			break
		}
		list = append(part[max(0, len(part)-(count-len(list))):], list...)
		end = start
	}
	return list
}

// functionBefore returns the start of the last function that starts before an address, in
// the image that contains the previous byte.
func functionBefore(s *session.Session, address uint64) (uint64, bool) {
	i := s.Image(address - 1)
	if i == nil {
		return 0, false
	}
	list := i.Functions()
	n := sort.Search(len(list), func(n int) bool { return list[n].Start >= address })
	if n == 0 {
		return 0, false
	}
	return list[n-1].Start, true
}

// decode returns the instructions in [start, end). It truncates the last one at end.
func decode(s *session.Session, start, end uint64) []session.Instruction {
	if end-start > maxDecoded {
		return nil
	}
	var list []session.Instruction
	for at := start; at < end; {
		part, _ := s.Disassemble(at, min(int(end-at), 256))
		if len(part) == 0 {
			break
		}
		for _, i := range part {
			if i.Address >= end || len(i.Bytes) == 0 {
				return list
			}
			if size := end - i.Address; uint64(len(i.Bytes)) > size {
				i.Bytes, i.Text = i.Bytes[:size], "(data)"
			}
			list = append(list, i)
			at = i.Address + uint64(len(i.Bytes))
		}
	}
	return list
}
