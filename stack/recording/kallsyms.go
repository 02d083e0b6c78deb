// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"sort"

	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/internal/untrusted"
)

// kallsyms is the text of /proc/kallsyms: lines of an address of 16 hexadecimal
// digits, a type, a name and, of a module's symbols, a tab and the module in
// brackets. The kernel's own symbols come first, by ascending address; those of
// modules follow in any order. Only the parts that are looked at are read.
type kallsyms struct {
	text []byte
	file *filemap.Mapping // that text is of: see object.Guard; nil where it is of none
}

// kallsymsLine is a line of it.
type kallsymsLine struct {
	address uint64
	kind    byte
	name    []byte
	module  []byte // nil of the kernel's own
	next    int64  // offset of the next line
}

// lineRoom is more than a line takes: the kernel's names have 512 bytes at most
// (KSYM_NAME_LEN), those of modules 56.
const lineRoom = 1 << 10

func openKallsyms(path string) (*kallsyms, error) {
	f, err := untrusted.Open("", path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := filemap.Map(f, path, 0, info.Size())
	if err != nil {
		return nil, err
	}
	return &kallsyms{text: m.Bytes(), file: m}, nil
}

func (k *kallsyms) close() { k.file.Unmap() }

// size returns how long the text is, in bytes.
func (k *kallsyms) size() int64 { return int64(len(k.text)) }

// from returns the text from an offset on, at least a line of it.
func (k *kallsyms) from(offset int64) []byte {
	if offset < 0 || offset >= k.size() {
		return nil
	}
	return k.text[offset:min(offset+lineRoom, k.size())]
}

// maxBadLines is how many lines in a row may not be of the form.
const maxBadLines = 64

// line returns the first line that begins at an offset or behind it and can be
// read. The offset is where a line begins.
func (k *kallsyms) line(offset int64) (l kallsymsLine, ok bool) {
	for range maxBadLines {
		text := k.from(offset)
		if len(text) == 0 {
			return l, false
		}
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			n = len(text) // it is too long, or the last
		} else {
			text = text[:n]
		}
		offset += int64(n) + 1
		if len(text) < 20 || text[16] != ' ' || text[18] != ' ' || text[19] == '\t' {
			continue
		}
		if l.address, ok = hexadecimal(text[:16]); ok {
			l.kind, l.next = text[17], offset
			l.name, l.module, ok = bytes.Cut(text[19:], []byte{'\t'})
			if l.module = bytes.Trim(l.module, "[]"); !ok {
				l.module = nil
			}
			return l, true
		}
	}
	return l, false
}

// behind returns where the first line begins that begins behind an offset.
func (k *kallsyms) behind(offset int64) int64 {
	for offset < k.size() {
		text := k.from(offset)
		if len(text) == 0 {
			break
		}
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			return offset + int64(n) + 1
		}
		offset += int64(len(text))
	}
	return k.size()
}

// hexadecimal reads a number of 16 digits.
func hexadecimal(b []byte) (v uint64, ok bool) {
	bad := byte(0)
	for _, c := range b {
		d := digits[c]
		bad |= d
		v = v<<4 | uint64(d&15)
	}
	return v, bad&0x80 == 0
}

// digits are the values of hexadecimal digits; what is none has bit 7.
var digits = func() (t [256]byte) {
	for i := range t {
		t[i] = 0x80
	}
	for i, c := range "0123456789abcdef" {
		t[c] = byte(i)
	}
	return t
}()

// hidden reports whether the kernel shows zeros in place of addresses.
func (k *kallsyms) hidden() bool {
	offset := int64(0)
	for range 16 {
		l, ok := k.line(offset)
		if !ok || l.address != 0 {
			return !ok
		}
		offset = l.next
	}
	return true
}

// address returns the address of a symbol of the kernel's own.
func (k *kallsyms) address(symbol string) (uint64, bool) {
	for offset := int64(0); ; {
		l, ok := k.line(offset)
		if !ok || l.module != nil {
			return 0, false
		}
		if string(l.name) == symbol {
			return l.address, true
		}
		offset = l.next
	}
}

// find returns the symbols of addresses, which are sorted: the nearest functions at
// or below them. Delta is how much further up the kernel lay.
func (k *kallsyms) find(addresses []uint64, delta uint64) []kernelSymbol {
	found := make([]kernelSymbol, len(addresses))
	// Where modules begin, and what lies above the kernel's own code.
	modules := k.search(func(l *kallsymsLine) bool { return l.module != nil })
	var rest []int // addresses that the kernel's own symbols do not cover
	for i, a := range addresses {
		if s, ok := k.own(a-delta, modules); ok {
			s.address += delta
			found[i] = s
		} else {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 && modules < k.size() {
		k.findModules(modules, addresses, delta, rest, found)
	}
	return found
}

// search returns the offset of the first line for which past is true, which it then
// is for all that follow.
func (k *kallsyms) search(past func(*kallsymsLine) bool) int64 {
	// A line is told by the offset that it begins at, or one of the line before.
	n := sort.Search(len(k.text), func(i int) bool {
		offset := int64(0)
		if i > 0 {
			offset = k.behind(int64(i) - 1)
		}
		l, ok := k.line(offset)
		return !ok || past(&l)
	})
	if n == 0 {
		return 0
	}
	return k.behind(int64(n) - 1)
}

// maxBack is how many lines before an address are looked at for a function.
const maxBack = 256

// own returns the nearest of the kernel's own functions.
func (k *kallsyms) own(address uint64, modules int64) (s kernelSymbol, ok bool) {
	above := k.search(func(l *kallsymsLine) bool { return l.module != nil || l.address > address })
	if above == 0 || above >= modules {
		return s, false // below all of them, or above
	}
	// Back to where lines of a lower address begin, by blocks.
	for start := above; start > 0; {
		end := start
		start = max(0, start-lineRoom)
		if start > 0 {
			start = k.behind(start)
		}
		if start >= end || above-start > maxBack*64 {
			return s, false
		}
		var best kallsymsLine
		for at := start; at < end; {
			l, ok := k.line(at)
			if !ok {
				break
			}
			if l.next <= end && isFunctionKind(l.kind) && (best.name == nil || l.address > best.address || better(&l, &best)) {
				best = l
			}
			at = l.next
		}
		if best.name != nil {
			return kernelSymbol{address: best.address, name: string(best.name)}, true
		}
	}
	return s, false
}

// findModules finds the symbols of addresses, by their indexes, among those from an
// offset on, which have no order.
func (k *kallsyms) findModules(offset int64, addresses []uint64, delta uint64, rest []int, found []kernelSymbol) {
	best := make([]kallsymsLine, len(rest)) // the nearest to an address that is above no lower one
	for {
		l, ok := k.line(offset)
		if !ok {
			break
		}
		offset = l.next
		if !isFunctionKind(l.kind) {
			continue
		}
		at := sort.Search(len(rest), func(i int) bool { return addresses[rest[i]] >= l.address+delta })
		if at < len(rest) && (best[at].name == nil || l.address > best[at].address || better(&l, &best[at])) {
			best[at] = l
		}
	}
	for i, n := range rest {
		if i > 0 && (best[i].name == nil || best[i].address < best[i-1].address) {
			best[i] = best[i-1]
		}
		if b := &best[i]; b.name != nil {
			found[n] = kernelSymbol{address: b.address + delta, name: string(b.name), module: string(b.module)}
		}
	}
}

// isFunctionKind reports whether a type, as nm(1) has it, is that of code: t, T
// and those of weak symbols.
func isFunctionKind(kind byte) bool {
	return kind == 'T' || kind == 't' || kind == 'W' || kind == 'w'
}

// better reports whether a symbol is to be preferred to another one at the same
// address: one with fewer leading underscores.
func better(a, b *kallsymsLine) bool {
	return a.address == b.address && underscores(a.name) < underscores(b.name)
}

func underscores(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }
