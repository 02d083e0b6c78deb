// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"strconv"
)

// converted is a run of equal characters of a string.
type converted struct {
	char  uint64
	count int
}

// appendString writes the characters of a string as gdb's generic_printstr
// does: in C's syntax, and long runs of one character as 'c' <repeats N times>.
// An ellipsis is forced where the memory has more than was read.
func (w *printing) appendString(data []byte, width int, prefix string, ellipsis bool) {
	n := len(data) / width
	order := w.machine.Order
	at := func(k int) uint64 { return uintOf(order, data[k*width:][:width]) }
	// The NUL that ends a string is left out.
	if !ellipsis && n > 0 && at(n-1) == 0 {
		n--
	}
	if n == 0 {
		w.add(prefix + `""`)
		return
	}
	var runs []converted
	next, total := 0, 0
	for next < n && total < w.elements {
		run := converted{char: at(next), count: 1}
		for next++; next < n && at(next) == run.char; next++ {
			run.count++
		}
		total += run.count
		runs = append(runs, run)
	}
	quoted := false
	escaped := false
	for k, run := range runs {
		if run.count > w.repeats {
			if quoted {
				w.add(`"`)
			}
			if k > 0 {
				w.add(", ")
			}
			w.add(prefix + "'")
			escaped = false
			w.appendChar(run.char, width, '\'', &escaped)
			w.add("' <repeats " + strconv.Itoa(run.count) + " times>")
			quoted, escaped = false, false
			continue
		}
		if !quoted {
			if k > 0 {
				w.add(", ")
			}
			w.add(prefix + `"`)
			quoted, escaped = true, false
		}
		for range run.count {
			w.appendChar(run.char, width, '"', &escaped)
		}
	}
	if quoted {
		w.add(`"`)
	}
	if ellipsis || next < n {
		w.add("...")
	}
}

// appendChar writes a character within quotes. A digit after an octal escape
// would be read as a part of it: it is escaped too, which escaped keeps.
func (w *printing) appendChar(c uint64, width int, quote byte, escaped *bool) {
	needed := *escaped
	*escaped = false
	if letter, ok := escapes[c]; ok {
		w.add(letter)
		return
	}
	if c >= ' ' && c < 0x7f && !(needed && c >= '0' && c <= '9') {
		if byte(c) == quote || c == '\\' {
			w.add(`\`)
		}
		w.add(string(rune(c)))
		return
	}
	if c <= 0777 {
		w.add(fmt.Sprintf(`\%03o`, c))
	} else {
		w.add(fmt.Sprintf(`\x%x`, c))
		*escaped = true
	}
}

var escapes = map[uint64]string{
	'\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`,
}

// textual tells whether a type is one of characters, and what stands before the
// quotes: gdb knows the names of C's wide ones.
func textual(t *Type) (prefix string, ok bool) {
	for range maxChain {
		switch t.name {
		case "wchar_t":
			return "L", true
		case "char16_t":
			return "u", true
		case "char32_t":
			return "U", true
		}
		switch t.kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			t = t.Elem()
			continue
		case Char:
			return "", true
		case Int:
			// C has no other number of one byte.
			return "", t.size == 1 && (t.language == C || t.language == CPlusPlus)
		}
		break
	}
	return "", false
}

// appendPointed writes the string that a pointer leads to, of at most Elements
// characters.
func (w *printing) appendPointed(f Frame, address, width uint64, prefix string) {
	if f == nil || width == 0 || width > 4 {
		return
	}
	var data []byte
	limit := uint64(w.elements) * width
	var problem error
	end := false
	for !end && uint64(len(data)) < limit {
		// Up to the end of a page, as the next one need not be there.
		at := address + uint64(len(data))
		n := min(limit-uint64(len(data)), 4096-at%4096, 256)
		if n = n / width * width; n == 0 {
			n = width
		}
		chunk := make([]byte, n)
		if f.ReadMemory(chunk, at) != nil {
			// What can be read need not end at a page.
			n, chunk = width, chunk[:width]
			if problem = f.ReadMemory(chunk, at); problem != nil {
				problem = &MemoryError{at, problem}
				break
			}
		}
		for k := uint64(0); k < n; k += width {
			data = append(data, chunk[k:k+width]...)
			if uintOf(w.machine.Order, chunk[k:k+width]) == 0 {
				end = true
				break
			}
		}
	}
	if problem == nil || len(data) > 0 {
		more := false
		if !end && problem == nil {
			next := make([]byte, width)
			more = f.ReadMemory(next, address+uint64(len(data))) != nil || uintOf(w.machine.Order, next) != 0
		}
		w.appendString(data, int(width), prefix, more)
	}
	if problem != nil {
		w.add("<error: " + message(problem) + ">")
	}
}
