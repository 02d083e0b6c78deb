// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
)

// Symbol is a line of a perf map: "START SIZE NAME", with hexadecimal numbers.
type Symbol struct {
	Address uint64
	Size    uint64 // bytes; 0 is possible, and means up to the next symbol
	Name    string // may contain spaces
}

// Map is a perf map in memory. It is safe for concurrent use. It stores the offsets of
// lines, not symbols, because a line can have six bytes.
type Map struct {
	// End is the offset after the last complete line. Bytes after it are a line that is
	// being written.
	End uint64

	data  []byte
	lines []uint32 // offsets of the complete lines from the start of data

	// Range k belongs to line owners[k] and begins at starts[k]: see endOf.
	starts []uint64
	owners []uint32
	last   uint64 // the highest start address of a symbol

	damage  []error
	damaged int
	cut     error
}

// maxLines is the maximum number of lines of a map, whose writer may be hostile. The last
// lines count.
const maxLines = 1 << 21

// ReadMap reads a file, which a process may still be writing.
func ReadMap(path string) (*Map, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf map: %w", err)
	}
	return ParseMap(path, data), nil
}

// ParseMap reads a perf map. Data is not copied and must not change. name is the file's name
// in errors. It skips malformed lines, and [Map.Damage] reports them. A map of more than two
// million lines omits the first ones, because later lines replace earlier ones: see Map.Cut.
func ParseMap(name string, data []byte) *Map { return parseMap(name, data, maxLines) }

func parseMap(name string, data []byte, limit int) *Map {
	m := &Map{data: data}
	all := bytes.Count(data, []byte{'\n'})
	first := 0
	for n := all - limit; n > 0 || uint64(len(data)-first) > math.MaxUint32; n-- {
		end := bytes.IndexByte(data[first:], '\n')
		if end < 0 {
			break // a line of 4 GiB is invalid
		}
		first += end + 1
	}
	if first > 0 {
		m.data, m.End = data[first:], uint64(first)
		m.cut = fmt.Errorf("%s: %w: its first %d lines are omitted: only the last %d are read", name, ErrTooLarge, max(all-limit, 1), limit)
	}
	if uint64(len(m.data)) > math.MaxUint32 {
		m.data = nil
	}
	const shortest = len("0 0 f\n")
	n := min(all, limit, len(m.data)/shortest)
	m.lines = make([]uint32, 0, n)
	symbols := addresses{make([]uint64, 0, n), make([]uint64, 0, n)}
	for at := 0; ; {
		n := bytes.IndexByte(m.data[at:], '\n')
		if n < 0 {
			break
		}
		line := m.data[at : at+n]
		if s, err := parseSymbol(line); err == nil {
			m.lines = append(m.lines, uint32(at))
			symbols.starts = append(symbols.starts, s.Address)
			symbols.ends = append(symbols.ends, s.Address+s.Size)
			m.last = max(m.last, s.Address)
		} else if len(bytes.TrimSpace(line)) > 0 {
			if m.damaged++; len(m.damage) < maxDamage {
				m.damage = append(m.damage, &Error{name, m.End, err})
			}
		}
		at += n + 1
		m.End += uint64(n) + 1
	}
	m.starts, m.owners = symbols.flatten()
	return m
}

// parseSymbol parses a line.
func parseSymbol(line []byte) (Symbol, error) {
	var s Symbol
	start, after, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte{' '})
	size, name, ok := bytes.Cut(bytes.TrimLeft(after, " "), []byte{' '})
	name = bytes.TrimSuffix(bytes.TrimLeft(name, " "), []byte{'\r'})
	if len(bytes.TrimSpace(name)) == 0 {
		name = nil
	}
	var okStart, okSize bool
	s.Address, okStart = hexadecimal(start)
	s.Size, okSize = hexadecimal(size)
	s.Name = alias(name)
	// Errors do not contain the text of the line: a link at the path of the map may lead to
	// a file that other users must not read.
	switch {
	case !okStart:
		return s, fmt.Errorf("%w: its first field, an address, is not a hexadecimal number", ErrMap)
	case !ok || !okSize:
		return s, fmt.Errorf("%w: its second field, a size, is not a hexadecimal number", ErrMap)
	case len(name) == 0:
		return s, fmt.Errorf("%w: it has no name after the address and the size", ErrMap)
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

// Damage returns the errors of the first invalid lines, joined, each an *Error that wraps
// ErrMap, or nil. all is the number of invalid lines.
func (m *Map) Damage() (all int, err error) { return m.damaged, errors.Join(m.damage...) }

// Cut returns the reason for omitting lines, an error that wraps ErrTooLarge, or nil.
func (m *Map) Cut() error { return m.cut }

// Len returns the number of complete lines.
func (m *Map) Len() int { return len(m.lines) }

// Symbol returns the i-th of the complete lines in the order of the file. Its name
// aliases the data.
func (m *Map) Symbol(i int) Symbol {
	line := m.data[m.lines[i]:]
	s, _ := parseSymbol(line[:bytes.IndexByte(line, '\n')])
	return s
}

// Symbols returns the complete lines in the order of the file. It makes a new list.
func (m *Map) Symbols() []Symbol {
	list := make([]Symbol, m.Len())
	for i := range list {
		list[i] = m.Symbol(i)
	}
	return list
}

// Find returns the symbol that contains an address; of several, the last in the file,
// since the memory was reused. It does not allocate.
func (m *Map) Find(address uint64) (s Symbol, ok bool) {
	if i := m.Index(address); i >= 0 {
		return m.Symbol(i), true
	}
	return Symbol{}, false
}

// Current yields the symbols that still contain their start address: all except those
// that later lines replaced.
func (m *Map) Current() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for i := range m.lines {
			if s := m.Symbol(i); m.Index(s.Address) == i && !yield(s) {
				return
			}
		}
	}
}

// Index returns the index, for Symbol, of the symbol that Find returns, or -1 if there is
// none.
func (m *Map) Index(address uint64) int {
	k, found := slices.BinarySearch(m.starts, address)
	if !found {
		k--
	}
	if k < 0 || address >= m.endOf(k) {
		return -1
	}
	return int(m.owners[k])
}

// endOf returns the end of range k: the end of its symbol, or the start of a newer one. A
// symbol without a size, like its range, ends at the start of the next one.
func (m *Map) endOf(k int) uint64 {
	s := m.Symbol(int(m.owners[k]))
	switch next := k + 1; {
	case s.Size > 0 && next < len(m.starts):
		return min(s.Address+s.Size, m.starts[next])
	case s.Size > 0:
		return s.Address + s.Size
	case next < len(m.starts):
		return m.starts[next]
	case s.Address == m.last:
		return nextPage(s.Address)
	}
	return m.last
}

// nextPage returns the end of the page after the page of an address. It is the end of the last
// symbol without a size.
func nextPage(address uint64) uint64 { return max(address, (address+4095)&^4095+4096) }

// addresses contains the bounds of symbols; those without a size end where they begin.
type addresses struct{ starts, ends []uint64 }

// flatten returns the visible ranges of symbols in order, where later symbols hide
// earlier ones. There are at most twice as many as symbols.
func (a *addresses) flatten() (starts []uint64, owners []uint32) {
	// Sort by start; at the same start the later symbol comes first.
	order := make([]uint32, len(a.starts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if c := cmp.Compare(a.starts[x], a.starts[y]); c != 0 {
			return c
		}
		return cmp.Compare(y, x)
	})
	a.measure(order)

	starts, owners = make([]uint64, 0, len(order)), make([]uint32, 0, len(order))
	end := uint64(0) // of the last range
	put := func(from, to uint64, symbol uint32) {
		if from >= to {
			return
		}
		if n := len(owners); n == 0 || owners[n-1] != symbol || end != from {
			starts, owners = append(starts, from), append(owners, symbol)
		}
		end = to
	}
	// The symbols that begin before the current address and may extend beyond it, the
	// latest on top. One that ended below the top is dropped when it gets there.
	var open latest
	at := uint64(0)
	advance := func(to uint64) {
		for len(open) > 0 && at < to {
			top := open[0]
			if e := a.ends[top]; e <= to {
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
		advance(a.starts[i])
		open.push(i)
	}
	advance(math.MaxUint64)
	return slices.Clip(starts), slices.Clip(owners)
}

// measure sets the end of symbols without a size, sorted by start: the next start, as in
// perf, and nextPage for the last ones.
func (a *addresses) measure(order []uint32) {
	next, last := uint64(0), true
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		start := a.starts[i]
		if k+1 < len(order) {
			if after := a.starts[order[k+1]]; after != start {
				next, last = after, false
			}
		}
		switch {
		case a.ends[i] > start:
		case last:
			a.ends[i] = nextPage(start)
		default:
			a.ends[i] = next
		}
	}
}

// latest is a heap of symbols with the last symbol in the file on top.
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

// appendSymbol appends a line. A name of several lines is joined into one.
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
