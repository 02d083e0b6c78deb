// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"bytes"
	"strconv"
	"strings"
)

const (
	chunk     = 64 << 10 // bytes that are copied at once
	maxString = 16 << 20 // bytes of a string that are read
)

func readString(c call, address uint64) (string, error) { return c.ReadString(address, maxString) }

func writeString(c call, address uint64, s string) error {
	return c.WriteMemory(append([]byte(s), 0), address)
}

// copyBytes copies n bytes. The ranges may overlap.
func copyBytes(c call, to, from, n uint64) error {
	buffer := make([]byte, min(n, chunk))
	for done := uint64(0); done < n; {
		part := buffer[:min(n-done, chunk)]
		at := done
		if to > from { // start at the end
			at = n - done - uint64(len(part))
		}
		if err := c.ReadMemory(part, from+at); err != nil {
			return err
		}
		if err := c.WriteMemory(part, to+at); err != nil {
			return err
		}
		done += uint64(len(part))
	}
	return nil
}

func fill(c call, address uint64, b byte, n uint64) error {
	buffer := bytes.Repeat([]byte{b}, int(min(n, chunk)))
	for n > 0 {
		part := buffer[:min(n, chunk)]
		if err := c.WriteMemory(part, address); err != nil {
			return err
		}
		address += uint64(len(part))
		n -= uint64(len(part))
	}
	return nil
}

// compare compares n bytes, as memcmp does.
func compare(c call, a, b, n uint64) (int, error) {
	x, y := make([]byte, min(n, chunk)), make([]byte, min(n, chunk))
	for n > 0 {
		x, y = x[:min(n, chunk)], y[:min(n, chunk)]
		if err := c.ReadMemory(x, a); err != nil {
			return 0, err
		}
		if err := c.ReadMemory(y, b); err != nil {
			return 0, err
		}
		if r := bytes.Compare(x, y); r != 0 {
			return r, nil
		}
		a, b, n = a+uint64(len(x)), b+uint64(len(x)), n-uint64(len(x))
	}
	return 0, nil
}

func returnInt(c call, n int) { c.Return(uint64(int64(n))) }

// twoStrings reads the strings that the first two arguments point to.
func twoStrings(c call) (a, b string, err error) {
	if a, err = readString(c, c.Word(0)); err == nil {
		b, err = readString(c, c.Word(1))
	}
	return a, b, err
}

func moveMemory(c call) error {
	c.Return(c.Word(0))
	return copyBytes(c, c.Word(0), c.Word(1), c.Word(2))
}

func setMemory(c call) error {
	c.Return(c.Word(0))
	return fill(c, c.Word(0), byte(c.Word(1)), c.Word(2))
}

func compareMemory(c call) error {
	r, err := compare(c, c.Word(0), c.Word(1), c.Word(2))
	returnInt(c, r)
	return err
}

func findByte(c call) error {
	p := make([]byte, 1)
	for n := range c.Word(2) {
		if err := c.ReadMemory(p, c.Word(0)+n); err != nil {
			return err
		}
		if p[0] == byte(c.Word(1)) {
			c.Return(c.Word(0) + n)
			return nil
		}
	}
	return nil
}

func stringFunctions() map[string]function {
	stringCopy := func(c call) error {
		c.Return(c.Word(0))
		s, err := readString(c, c.Word(1))
		if err != nil {
			return err
		}
		return writeString(c, c.Word(0), s)
	}
	concatenate := func(c call) error {
		c.Return(c.Word(0))
		a, b, err := twoStrings(c)
		if err != nil {
			return err
		}
		return writeString(c, c.Word(0)+uint64(len(a)), b)
	}
	stringCompare := func(limited bool) function {
		return func(c call) error {
			limit := maxString
			if n := c.Word(2); limited && n < maxString {
				limit = int(n)
			}
			r, err := compareStrings(c, c.Word(0), c.Word(1), limit)
			returnInt(c, r)
			return err
		}
	}
	// find returns strchr or strrchr. index finds the character.
	find := func(index func(string, byte) int) function {
		return func(c call) error {
			s, err := readString(c, c.Word(0))
			if err != nil {
				return err
			}
			// The NUL is a part of the string (C11 §7.24.5.2).
			if n := index(s+"\x00", byte(c.Word(1))); n >= 0 {
				c.Return(c.Word(0) + uint64(n))
			}
			return nil
		}
	}
	number := func(c call) error {
		s, err := readString(c, c.Word(0))
		returnInt(c, int(leadingNumber(s)))
		return err
	}
	absolute := func(bits uint) function {
		return func(c call) error {
			n := int64(c.Word(0)<<(64-bits)) >> (64 - bits)
			c.Return(uint64(max(n, -n)))
			return nil
		}
	}
	return map[string]function{
		"memcpy": moveMemory, "memmove": moveMemory, "__memcpy_chk": moveMemory, "__memmove_chk": moveMemory,
		"memset": setMemory, "__memset_chk": setMemory,
		"memcmp": compareMemory, "bcmp": compareMemory, "memchr": findByte,
		"strlen": func(c call) error {
			s, err := readString(c, c.Word(0))
			returnInt(c, len(s))
			return err
		},
		"strcmp": stringCompare(false), "strncmp": stringCompare(true),
		"strcpy": stringCopy, "__strcpy_chk": stringCopy,
		"strncpy": stringCopyN, "__strncpy_chk": stringCopyN,
		"strcat": concatenate, "__strcat_chk": concatenate,
		"strchr": find(strings.IndexByte), "strrchr": find(strings.LastIndexByte),
		"strstr": func(c call) error {
			a, b, err := twoStrings(c)
			if n := strings.Index(a, b); err == nil && n >= 0 {
				c.Return(c.Word(0) + uint64(n))
			}
			return err
		},
		"atoi": number, "atol": number, "atoll": number,
		"abs": absolute(32), "labs": absolute(64), "llabs": absolute(64),
	}
}

// stringCopyN is strncpy, which fills the remaining bytes with NULs (C11 §7.24.2.4).
func stringCopyN(c call) error {
	c.Return(c.Word(0))
	n := c.Word(2)
	s, err := prefix(c, c.Word(1), n)
	if err != nil {
		return err
	}
	if err := c.WriteMemory([]byte(s), c.Word(0)); err != nil {
		return err
	}
	return fill(c, c.Word(0)+uint64(len(s)), 0, n-uint64(len(s)))
}

// prefix reads a string up to its NUL, or its first n bytes.
func prefix(c call, address, n uint64) (string, error) {
	var s []byte
	p := make([]byte, 1)
	for uint64(len(s)) < min(n, maxString) {
		if err := c.ReadMemory(p, address+uint64(len(s))); err != nil {
			return "", err
		}
		if p[0] == 0 {
			break
		}
		s = append(s, p[0])
	}
	return string(s), nil
}

func compareStrings(c call, a, b uint64, limit int) (int, error) {
	p, q := make([]byte, 1), make([]byte, 1)
	for n := range uint64(limit) {
		if err := c.ReadMemory(p, a+n); err != nil {
			return 0, err
		}
		if err := c.ReadMemory(q, b+n); err != nil {
			return 0, err
		}
		if p[0] != q[0] || p[0] == 0 {
			return int(p[0]) - int(q[0]), nil
		}
	}
	return 0, nil
}

// leadingNumber returns the number at the start of a text, 0 if there is none.
func leadingNumber(s string) int64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], 10, 64)
	return n
}
