// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
)

// Symbol is a line of a perf map: "START SIZE NAME", the numbers in hexadecimal.
type Symbol struct {
	Address uint64
	Size    uint64 // bytes; 0 occurs, and reaches to where the next one starts
	Name    string // may hold spaces
}

// Map is a perf map in memory. It may be used from several goroutines.
type Map struct {
	// End is where the complete lines end: what is behind it is being written still.
	End uint64

	symbols  []Symbol
	segments []segment
	damage   []error
	damaged  int
}

// segment is a range of addresses, and the symbol that has it.
type segment struct {
	addressRange
	symbol uint32
}

// ReadMap reads a file, which a process may be writing still.
func ReadMap(path string) (*Map, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf map: %w", err)
	}
	return ParseMap(path, data), nil
}

// ParseMap reads a perf map. Data is not copied and must stay as it is; name is
// what errors call it. A bad line costs itself; Map.Damage tells.
func ParseMap(name string, data []byte) *Map {
	m := new(Map)
	const shortest = len("0 0 f\n")
	m.symbols = make([]Symbol, 0, min(bytes.Count(data, []byte{'\n'}), len(data)/shortest))
	for {
		n := bytes.IndexByte(data[m.End:], '\n')
		if n < 0 {
			break
		}
		line := data[m.End : m.End+uint64(n)]
		if s, err := parseSymbol(line); err == nil {
			m.symbols = append(m.symbols, s)
		} else if len(bytes.TrimSpace(line)) > 0 {
			if m.damaged++; len(m.damage) < maxDamage {
				m.damage = append(m.damage, &Error{name, m.End, err})
			}
		}
		m.End += uint64(n) + 1
	}
	m.segments = flatten(m.symbols)
	return m
}

// parseSymbol reads a line.
func parseSymbol(line []byte) (Symbol, error) {
	var s Symbol
	start, rest, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte{' '})
	size, name, ok := bytes.Cut(bytes.TrimLeft(rest, " "), []byte{' '})
	name = bytes.TrimSuffix(bytes.TrimLeft(name, " "), []byte{'\r'})
	if len(bytes.TrimSpace(name)) == 0 {
		name = nil
	}
	var okStart, okSize bool
	s.Address, okStart = hexadecimal(start)
	s.Size, okSize = hexadecimal(size)
	s.Name = alias(name)
	switch {
	case !ok || !okStart || !okSize || len(name) == 0:
		return s, fmt.Errorf("%w: %.40q, expected an address, a size and a name", ErrMap, line)
	case s.Address+s.Size < s.Address:
		return s, fmt.Errorf("%w: %#x bytes at %#x pass the end of the address space", ErrMap, s.Size, s.Address)
	}
	return s, nil
}

// hexadecimal reads a number of at most 16 digits. The JDK and Erlang put 0x
// before it.
func hexadecimal(b []byte) (v uint64, ok bool) {
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b = b[2:]
	}
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}

// Damage returns the first bad lines, joined, each an *Error that wraps ErrMap,
// or nil; all is how many there are.
func (m *Map) Damage() (all int, err error) { return m.damaged, errors.Join(m.damage...) }

// Symbols returns the complete lines in the order of the file. They are the
// Map's own and must not be changed.
func (m *Map) Symbols() []Symbol { return m.symbols }

// Find returns the symbol that has an address: of several the one that comes
// last in the file, since the memory was used again. It does not allocate.
func (m *Map) Find(address uint64) (s *Symbol, ok bool) {
	i, found := slices.BinarySearchFunc(m.segments, address, func(s segment, a uint64) int { return cmp.Compare(s.start, a) })
	if !found {
		i--
	}
	if i < 0 || address >= m.segments[i].end {
		return nil, false
	}
	return &m.symbols[m.segments[i].symbol], true
}

// flatten returns the ranges that symbols have where later ones hide earlier
// ones, in order. They are at most twice as many as the symbols.
func flatten(symbols []Symbol) []segment {
	// By start, at the same start the later one first.
	order := make([]uint32, len(symbols))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if c := cmp.Compare(symbols[a].Address, symbols[b].Address); c != 0 {
			return c
		}
		return cmp.Compare(b, a)
	})
	ends := ends(symbols, order)

	segments := make([]segment, 0, len(symbols))
	put := func(start, end uint64, symbol uint32) {
		if start >= end {
			return
		}
		if n := len(segments); n > 0 && segments[n-1].symbol == symbol && segments[n-1].end == start {
			segments[n-1].end = end
			return
		}
		segments = append(segments, segment{addressRange{start, end}, symbol})
	}
	// The symbols that begin before the address in hand and may reach beyond it,
	// the latest on top. One that ended below the top is dropped when it gets there.
	var open latest
	at := uint64(0)
	advance := func(to uint64) {
		for len(open) > 0 && at < to {
			top := open[0]
			if e := ends[top]; e <= to {
				put(at, e, top)
				at = max(at, e)
				open.pop()
			} else {
				put(at, to, top)
				at = to
			}
		}
		at = to
	}
	for _, i := range order {
		advance(symbols[i].Address)
		open.push(i)
	}
	advance(math.MaxUint64)
	return slices.Clip(segments)
}

// ends returns where symbols end, given their order by start. Those without a
// size end at the next start, as perf has it, and the last ones at the end of the
// page behind their own.
func ends(symbols []Symbol, order []uint32) []uint64 {
	ends := make([]uint64, len(symbols))
	next, last := uint64(0), true
	for k := len(order) - 1; k >= 0; k-- {
		s := &symbols[order[k]]
		if k+1 < len(order) {
			if after := symbols[order[k+1]].Address; after != s.Address {
				next, last = after, false
			}
		}
		switch {
		case s.Size > 0:
			ends[order[k]] = s.Address + s.Size
		case last:
			ends[order[k]] = max(s.Address, (s.Address+4095)&^4095+4096)
		default:
			ends[order[k]] = next
		}
	}
	return ends
}

// latest is a heap of symbols, the one that comes last in the file on top.
type latest []uint32

func (h *latest) push(i uint32) {
	*h = append(*h, i)
	for at := len(*h) - 1; at > 0; {
		up := (at - 1) / 2
		if (*h)[up] > (*h)[at] {
			return
		}
		(*h)[up], (*h)[at] = (*h)[at], (*h)[up]
		at = up
	}
}

func (h *latest) pop() {
	n := len(*h) - 1
	(*h)[0] = (*h)[n]
	*h = (*h)[:n]
	for at := 0; ; {
		down := 2*at + 1
		if down+1 < n && (*h)[down+1] > (*h)[down] {
			down++
		}
		if down >= n || (*h)[at] > (*h)[down] {
			return
		}
		(*h)[at], (*h)[down] = (*h)[down], (*h)[at]
		at = down
	}
}

// appendSymbol appends a line. A name of several lines becomes one.
func appendSymbol(dst []byte, address, size uint64, name string) []byte {
	dst = strconv.AppendUint(dst, address, 16)
	dst = append(dst, ' ')
	dst = strconv.AppendUint(dst, size, 16)
	dst = append(dst, ' ')
	start := len(dst)
	dst = append(dst, name...)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' {
			dst[start+i] = ' '
		}
	}
	return append(dst, '\n')
}
