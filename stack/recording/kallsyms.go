// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"sort"

	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// kallsyms is the text of /proc/kallsyms. A line is an address of 16 hexadecimal digits, a
// type and a name; for symbols of modules, a tab and the module in brackets follow. The
// kernel's own symbols come first, by ascending address. Those of modules follow in any
// order.
type kallsyms struct {
	text []byte
	file *filemap.Mapping // of text, see object.Guard; nil if text is not of a file
}

type kallsymsLine struct {
	address uint64
	kind    byte
	name    []byte
	module  []byte // nil for the kernel's own symbols
	next    int64  // offset of the next line
}

// maxLine exceeds the length of a line: the kernel's names have at most 512 bytes
// (KSYM_NAME_LEN), those of modules 56.
const maxLine = 1 << 10

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

func (k *kallsyms) size() int64 { return int64(len(k.text)) }

// from returns the text from an offset on, at least a line.
func (k *kallsyms) from(offset int64) []byte {
	if offset < 0 || offset >= k.size() {
		return nil
	}
	return k.text[offset:min(offset+maxLine, k.size())]
}

// maxMalformed is how many successive lines may be malformed.
const maxMalformed = 64

// line returns the first well-formed line at or after an offset, at which a line begins.
func (k *kallsyms) line(offset int64) (l kallsymsLine, ok bool) {
	for range maxMalformed {
		text := k.from(offset)
		if len(text) == 0 {
			return l, false
		}
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			n = len(text) // too long, or the last line
		} else {
			text = text[:n]
		}
		offset += int64(n) + 1
		if len(text) < 20 || text[16] != ' ' || text[18] != ' ' || text[19] == '\t' {
			continue
		}
		var address [8]byte
		if _, err := hex.Decode(address[:], text[:16]); err == nil {
			l.address, l.kind, l.next = binary.BigEndian.Uint64(address[:]), text[17], offset
			l.name, l.module, ok = bytes.Cut(text[19:], []byte{'\t'})
			if l.module = bytes.Trim(l.module, "[]"); !ok {
				l.module = nil
			}
			return l, true
		}
	}
	return l, false
}

// nextLine returns the offset of the first line that begins after an offset.
func (k *kallsyms) nextLine(offset int64) int64 {
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

// address returns the address of one of the kernel's own symbols.
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

// find returns the nearest functions at or below addresses, which must be sorted. Delta
// is added to the addresses of the text.
func (k *kallsyms) find(addresses []uint64, delta uint64) []kernelSymbol {
	found := make([]kernelSymbol, len(addresses))
	modules := k.search(func(l *kallsymsLine) bool { return l.module != nil })
	var inModules []int // indexes of addresses that the kernel's own symbols do not cover
	for i, a := range addresses {
		if s, ok := k.own(a-delta, modules); ok {
			s.Address += delta
			found[i] = s
		} else {
			inModules = append(inModules, i)
		}
	}
	if len(inModules) > 0 && modules < k.size() {
		k.findModules(modules, addresses, delta, inModules, found)
	}
	return found
}

// search returns the offset of the first line for which past is true. Past must be true
// for all later lines too.
func (k *kallsyms) search(past func(*kallsymsLine) bool) int64 {
	// An offset within a line stands for the next line.
	n := sort.Search(len(k.text), func(i int) bool {
		offset := int64(0)
		if i > 0 {
			offset = k.nextLine(int64(i) - 1)
		}
		l, ok := k.line(offset)
		return !ok || past(&l)
	})
	if n == 0 {
		return 0
	}
	return k.nextLine(int64(n) - 1)
}

// maxBack is how many lines before an address are searched for a function.
const maxBack = 256

// own returns the nearest of the kernel's own functions. Modules is the offset of the
// first line of a module.
func (k *kallsyms) own(address uint64, modules int64) (s kernelSymbol, ok bool) {
	above := k.search(func(l *kallsymsLine) bool { return l.module != nil || l.address > address })
	if above == 0 || above >= modules {
		return s, false // below or above all of them
	}
	// Search backwards, by blocks: data symbols can lie between.
	for start := above; start > 0; {
		end := start
		start = max(0, start-maxLine)
		if start > 0 {
			start = k.nextLine(start)
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
			return kernelSymbol{object.Symbol{Name: string(best.name), Address: best.address}, ""}, true
		}
	}
	return s, false
}

// findModules sets found for the addresses with the given indexes, by the symbols from an
// offset on, which are not sorted.
func (k *kallsyms) findModules(offset int64, addresses []uint64, delta uint64, indexes []int, found []kernelSymbol) {
	best := make([]kallsymsLine, len(indexes)) // the nearest between the previous address and this one
	for {
		l, ok := k.line(offset)
		if !ok {
			break
		}
		offset = l.next
		if !isFunctionKind(l.kind) {
			continue
		}
		at := sort.Search(len(indexes), func(i int) bool { return addresses[indexes[i]] >= l.address+delta })
		if at < len(indexes) && (best[at].name == nil || l.address > best[at].address || better(&l, &best[at])) {
			best[at] = l
		}
	}
	for i, n := range indexes {
		if i > 0 && (best[i].name == nil || best[i].address < best[i-1].address) {
			best[i] = best[i-1]
		}
		if b := &best[i]; b.name != nil {
			found[n] = kernelSymbol{object.Symbol{Name: string(b.name), Address: b.address + delta}, string(b.module)}
		}
	}
}

// isFunctionKind reports whether a type of nm(1) is that of code, or of a weak symbol.
func isFunctionKind(kind byte) bool {
	return kind == 'T' || kind == 't' || kind == 'W' || kind == 'w'
}

// better reports whether a symbol has fewer leading underscores than another one at the
// same address.
func better(a, b *kallsymsLine) bool {
	return a.address == b.address && underscores(a.name) < underscores(b.name)
}

func underscores(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }
