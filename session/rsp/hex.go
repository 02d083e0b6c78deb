// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// scanner parses a packet. After a part that is missing or invalid, all others are zero and invalid
// is set.
type scanner struct {
	rest    string
	invalid bool
}

// number parses a hexadecimal number of up to 64 bits.
func (s *scanner) number() uint64 {
	after := strings.TrimLeft(s.rest, "0123456789abcdefABCDEF")
	v, err := strconv.ParseUint(s.rest[:len(s.rest)-len(after)], 16, 64)
	if err != nil {
		s.invalid = true
		return 0
	}
	s.rest = after
	return v
}

// skip parses a literal.
func (s *scanner) skip(literal string) {
	if !s.next(literal) {
		s.invalid = true
	}
}

// next parses a literal, and returns false if it is not there.
func (s *scanner) next(literal string) (ok bool) {
	s.rest, ok = strings.CutPrefix(s.rest, literal)
	return ok
}

// bytes parses n bytes in hexadecimal.
func (s *scanner) bytes(n uint64) []byte {
	if s.invalid || n > uint64(len(s.rest))/2 {
		s.invalid = true
		return nil
	}
	b, err := hex.DecodeString(s.rest[:2*n])
	if err != nil {
		s.invalid = true
		return nil
	}
	s.rest = s.rest[2*n:]
	return b
}

// end reports whether all parts were valid and nothing is left.
func (s *scanner) end() bool { return !s.invalid && s.rest == "" }

func hexString(s string) string { return hex.EncodeToString([]byte(s)) }
