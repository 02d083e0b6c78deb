// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/clewdev/clew/target/perfdata"
)

// kernel is what the recording tells of the kernel that ran.
type kernel struct {
	object  int32            // index, -1 before it is needed
	modules map[string]int32 // indexes of the modules' objects
	symbol  string           // whose address the recording has: "_text", "_stext"
	address uint64           // of it
	dynamic []kernelSymbol   // code that came while it was recorded: BPF programs
}

// kernelSymbol is a function of the kernel.
type kernelSymbol struct {
	address, size uint64
	name          string
	module        string // "" for the kernel itself
}

// kernelPath is what the recording calls the kernel.
const kernelPath = "[kernel.kallsyms]"

// mmap takes in a mapping of the kernel. Its own tells where it lay, as it may be
// elsewhere each time it is started.
func (k *kernel) mmap(m *perfdata.Mmap) {
	if symbol, ok := bytes.CutPrefix(m.Path, []byte(kernelPath)); ok && k.symbol == "" && len(symbol) > 0 {
		k.symbol, k.address = string(symbol), m.Offset
	}
}

// maxKsymbols bounds the symbols of code that comes and goes.
const maxKsymbols = 1 << 16

func (k *kernel) ksymbol(s *perfdata.Ksymbol) {
	if s.Unregister || len(s.Name) == 0 || len(k.dynamic) >= maxKsymbols {
		return
	}
	module := "bpf"
	if s.Kind != 1 {
		module = ""
	}
	k.dynamic = append(k.dynamic, kernelSymbol{s.Address, uint64(s.Length), string(s.Name), module})
}

// kernelObject returns the index of the kernel's object.
func (b *builder) kernelObject() int32 {
	if b.kernel.object < 0 {
		b.kernel.object = b.object(Object{Name: KernelName, BuildID: b.buildIDs[kernelPath]})
	}
	return b.kernel.object
}

// kernelSymbols finds the symbols of addresses of the kernel, which are sorted.
func (b *builder) kernelSymbols(addresses []uint64) []kernelSymbol {
	k := &b.kernel
	found := make([]kernelSymbol, len(addresses))
	list, path, err := b.kallsyms()
	if err != nil {
		if o := &b.objects[k.object]; o.Err == nil {
			o.Err = err
		}
	} else {
		b.objects[k.object].File = path
		delta := uint64(0)
		if k.symbol != "" {
			if at, ok := list.address(k.symbol); ok {
				delta = k.address - at
			}
		}
		list.find(addresses, delta, found)
	}
	for _, s := range k.dynamic {
		at := sort.Search(len(addresses), func(i int) bool { return addresses[i] >= s.address })
		for ; at < len(addresses) && addresses[at]-s.address < s.size; at++ {
			if found[at].name == "" || found[at].address < s.address {
				found[at] = s
			}
		}
	}
	return found
}

// kallsyms opens the kernel's symbols: those that perf has kept for the build ID
// of the recording, else those of the running kernel, if it is the same.
func (b *builder) kallsyms() (kallsyms, string, error) {
	id := b.objects[b.kernel.object].BuildID
	var failures []error
	if id != "" && b.opts.Cache != "" {
		path := filepath.Join(b.opts.Cache, kernelPath, id, "kallsyms")
		data, err := os.ReadFile(path)
		if err == nil {
			return kallsyms(data), path, nil
		}
		failures = append(failures, err)
	}
	own, err := ownKernelID()
	switch {
	case err != nil:
		failures = append(failures, err)
	case id == "":
		// perf lists no build ID of what no sample has hit.
		if release := b.rec.Header.OSRelease; release == "" || release != ownRelease() {
			failures = append(failures, errors.New("the recording has no build ID of the kernel"))
			break
		}
		fallthrough
	case own == id:
		path := "/proc/kallsyms"
		data, err := os.ReadFile(path)
		if err == nil && !kallsyms(data).hidden() {
			return kallsyms(data), path, nil
		}
		if err == nil {
			err = fmt.Errorf("%s: the addresses are hidden (sysctl kernel.kptr_restrict)", path)
		}
		failures = append(failures, err)
	default:
		failures = append(failures, fmt.Errorf("the running kernel has build ID %s, the recorded one %s", own, id))
	}
	return nil, "", fmt.Errorf("kernel symbols: %w", errors.Join(failures...))
}

// ownRelease returns the release of the running kernel.
func ownRelease() string {
	data, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(data))
}

// ownKernelID returns the build ID of the running kernel, from its notes (gABI,
// "Note Section").
func ownKernelID() (string, error) {
	const path = "/sys/kernel/notes"
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	word := func(at int) uint64 {
		return uint64(b[at]) | uint64(b[at+1])<<8 | uint64(b[at+2])<<16 | uint64(b[at+3])<<24
	}
	for len(b) >= 12 {
		name, size, kind := word(0), word(4), word(8)
		start := 12 + (name+3)&^3
		end := start + size
		if name > uint64(len(b)) || size > uint64(len(b)) || end > uint64(len(b)) {
			break
		}
		if kind == 3 && string(b[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(b[start:end]), nil
		}
		b = b[min((end+3)&^3, uint64(len(b))):]
	}
	return "", fmt.Errorf("%s: no build ID", path)
}

// kallsyms is the text of /proc/kallsyms: lines of an address of 16 hexadecimal
// digits, a type, a name and, of a module's symbols, a tab and the module in
// brackets.
type kallsyms []byte

// line splits off the first line.
func (k *kallsyms) line() (address uint64, kind byte, name []byte, ok bool) {
	for len(*k) > 0 {
		text := *k
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			*k, text = text[n+1:], text[:n]
		} else {
			*k = nil
		}
		if len(text) < 20 || text[16] != ' ' || text[18] != ' ' {
			continue
		}
		if address, ok = hexadecimal(text[:16]); ok {
			return address, text[17], text[19:], true
		}
	}
	return 0, 0, nil, false
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
func (k kallsyms) hidden() bool {
	for range 16 {
		address, _, _, ok := k.line()
		if !ok || address != 0 {
			return !ok
		}
	}
	return true
}

// address returns the address of a symbol.
func (k kallsyms) address(symbol string) (uint64, bool) {
	needle := []byte(" " + symbol + "\n")
	for from := 0; ; {
		at := bytes.Index(k[from:], needle)
		if at < 0 {
			return 0, false
		}
		at += from
		if at >= 18 {
			line := kallsyms(k[at-18:])
			if address, _, name, ok := line.line(); ok && string(name) == symbol {
				return address, true
			}
		}
		from = at + 1
	}
}

// find sets found[i] to the symbol of addresses[i], which are sorted: the nearest
// function at or below it. Delta is how much further up the kernel lay.
func (k kallsyms) find(addresses []uint64, delta uint64, found []kernelSymbol) {
	if len(addresses) == 0 {
		return
	}
	// Symbols mostly ascend, and addresses are few: a symbol belongs to the
	// addresses from where it is up to the next one, low and high.
	best := make([]uint64, len(addresses)) // of the symbol that is nearest to, or above no other address
	names := make([][]byte, len(addresses))
	at := 0
	low, high := uint64(0), addresses[0]
	for {
		address, kind, name, ok := k.line()
		if !ok {
			break
		}
		address += delta
		if address > high || address <= low && at > 0 {
			// The first address at or above the symbol.
			at = sort.Search(len(addresses), func(i int) bool { return addresses[i] >= address })
			low, high = 0, ^uint64(0)
			if at > 0 {
				low = addresses[at-1]
			}
			if at < len(addresses) {
				high = addresses[at]
			}
		}
		if at == len(addresses) || !isFunctionKind(kind) {
			continue
		}
		// Of several symbols at one address perf takes the one that comes last, but
		// for those that are local.
		if names[at] == nil || address > best[at] || address == best[at] && better(kind, name, names[at]) {
			best[at], names[at] = address, name
		}
	}
	for i := range addresses {
		if i > 0 && names[i] == nil || i > 0 && best[i] < best[i-1] {
			best[i], names[i] = best[i-1], names[i-1]
		}
		if names[i] == nil {
			continue
		}
		s := kernelSymbol{address: best[i]}
		name, module, _ := bytes.Cut(names[i], []byte{'\t'})
		s.name = string(name)
		s.module = string(bytes.Trim(module, "[]"))
		found[i] = s
	}
}

// isFunctionKind reports whether a type, as nm(1) has it, is that of code: t, T
// and those of weak symbols.
func isFunctionKind(kind byte) bool {
	return kind == 'T' || kind == 't' || kind == 'W' || kind == 'w'
}

// better reports whether a symbol is to be preferred to another one at the same
// address: global, and with fewer leading underscores.
func better(kind byte, name, other []byte) bool {
	return underscores(name) < underscores(other)
}

func underscores(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }
