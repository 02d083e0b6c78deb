// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/hex"
	"strconv"
)

const hexDigits = "0123456789abcdef"

func digit(b byte) (byte, bool) {
	switch {
	case b >= '0' && b <= '9':
		return b - '0', true
	case b >= 'a' && b <= 'f':
		return b - 'a' + 10, true
	case b >= 'A' && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}

// scanner takes the parts of a packet from its front. After the first part that
// is not there all others are zero, and bad is set.
type scanner struct {
	rest string
	bad  bool
}

// number takes a hexadecimal number of up to 64 bits.
func (s *scanner) number() uint64 {
	n := 0
	for n < len(s.rest) {
		if _, ok := digit(s.rest[n]); !ok {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(s.rest[:n], 16, 64)
	if err != nil {
		s.bad = true
		return 0
	}
	s.rest = s.rest[n:]
	return v
}

// skip takes a literal.
func (s *scanner) skip(literal string) {
	if !s.next(literal) {
		s.bad = true
	}
}

// next takes a literal where it comes next.
func (s *scanner) next(literal string) bool {
	if len(s.rest) < len(literal) || s.rest[:len(literal)] != literal {
		return false
	}
	s.rest = s.rest[len(literal):]
	return true
}

// bytes takes n bytes in hexadecimal.
func (s *scanner) bytes(n uint64) []byte {
	if s.bad || n > uint64(len(s.rest))/2 {
		s.bad = true
		return nil
	}
	b, err := hex.DecodeString(s.rest[:2*n])
	if err != nil {
		s.bad = true
		return nil
	}
	s.rest = s.rest[2*n:]
	return b
}

// end reports whether all was there, and nothing more.
func (s *scanner) end() bool { return !s.bad && s.rest == "" }

func hexString(s string) string { return hex.EncodeToString([]byte(s)) }
