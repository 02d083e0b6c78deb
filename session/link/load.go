// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/internal/errorlist"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
)

// order is the byte order of both machines.
var order = binary.LittleEndian

// linker makes a program from files. It works the same on any host, except for reserve.
type linker struct {
	machine *machine
	resolve func(string) (uint64, bool)
	// reserve returns the address of aligned memory of size bytes for the program, in the low 2 GiB
	// if low is set.
	reserve func(size, align uint64, low bool) (base uint64, err error)
	threads *offsets
	// analysed says that the program is only analysed: thread-local variables of other images
	// need no address.
	analysed bool

	inputs  []*input
	globals map[string]*symbol
	null    symbol // for relocations without a symbol
	runs    map[string]bounds

	regions     [regionCount]region
	got, stubs  section
	slots       []slot
	otherSlots  map[slot]int32 // slots with an addend: 1 + index in slots
	stubSymbols []*symbol
	template    template
	threadStart uint64  // of the program's range in threads
	moduleBase  *symbol // _TLS_MODULE_BASE_, or nil
	low         bool    // the program must be in the low 2 GiB

	base, size, align uint64
	page              uint64

	undefined references
	problems  errorlist.List
}

// Load links and maps files. It reads the files only during the call. The error joins the problems that
// it has found; it wraps [ErrUndefined], [ErrOverflow] or [ErrUnsupported] if one of them is the
// reason. Load may be called by several goroutines.
func Load(o *Options, files ...*object.File) (*Program, error) {
	memory := new(mapping)
	l := &linker{reserve: memory.reserve, threads: &threadOffsets, page: uint64(os.Getpagesize())}
	for _, m := range machines {
		if h := jit.Host(); h != nil && m.elf == h.ELF {
			l.machine = m
		}
	}
	if l.machine == nil {
		return nil, fmt.Errorf("%w: Clew loads no files on %s/%s", ErrUnsupported, runtime.GOOS, runtime.GOARCH)
	}
	if o != nil {
		l.resolve = o.Resolve
	}
	var p *Program
	err := object.Guard(func() (err error) {
		p, err = l.link(files)
		return err
	})
	if err == nil {
		err = memory.fill(l)
	}
	if err != nil {
		memory.close()
		l.release()
		return nil, err
	}
	p.memory, p.release = memory, l.release
	return p, nil
}

// Close unmaps the program. No thread may be running its code, or return to it. A second call does
// nothing.
func (p *Program) Close() error {
	if p.memory == nil {
		return nil
	}
	if err := p.memory.close(); err != nil {
		return err
	}
	p.release()
	p.memory = nil
	return nil
}

func (l *linker) release() {
	if l.template.offset != 0 {
		l.threads.free(l.threadStart)
		l.template.offset = 0
	}
}

// link does everything except writing to the program's memory.
func (l *linker) link(files []*object.File) (*Program, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: no files", ErrUnsupported)
	}
	l.problems.Limit = 16
	l.globals, l.otherSlots = make(map[string]*symbol), make(map[slot]int32)
	l.null.kind = absolute
	for _, f := range files {
		in, err := l.read(f)
		if err != nil {
			return nil, err
		}
		l.inputs = append(l.inputs, in)
	}
	l.discard()
	for _, in := range l.inputs {
		if err := l.readSymbols(in); err != nil {
			return nil, err
		}
	}
	if err := l.placeCommon(); err != nil {
		return nil, err
	}
	l.arrange()
	if err := l.scan(); err != nil {
		return nil, err
	}
	l.problems.Add(l.undefined.err())
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	if err := l.place(l.page); err != nil {
		return nil, err
	}
	if err := l.placeThread(); err != nil {
		return nil, err
	}
	base, err := l.reserve(l.size, l.align, l.low)
	if err != nil {
		return nil, err
	}
	l.settle(base)
	p := &Program{Start: base, End: base + l.size}
	for _, in := range l.inputs {
		l.makeImage(in)
		l.relocate(in)
		p.Objects = append(p.Objects, &Object{Name: in.name, ELF: in.image, Text: in.text()})
	}
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	if err := l.makeStubs(p); err != nil {
		return nil, err
	}
	l.finish(p)
	return p, nil
}

// discard drops COMDAT groups that an earlier file has, and sections that are linked to a dropped one
// (gABI, "Section Groups" and SHF_LINK_ORDER).
func (l *linker) discard() {
	seen := make(map[string]*input)
	for _, in := range l.inputs {
		for i := range in.groups {
			g := &in.groups[i]
			if !slices.ContainsFunc(g.members, func(m uint32) bool { return in.sections[m].mapped }) {
				continue
			}
			if first, ok := seen[g.signature]; !ok {
				seen[g.signature] = in
			} else if first != in {
				for _, m := range g.members {
					in.sections[m].discarded, in.sections[m].mapped = true, false
				}
			}
		}
		for i := range in.sections {
			s := &in.sections[i]
			if s.flags&elf.SHF_LINK_ORDER != 0 && s.linked > 0 && s.linked < len(in.sections) && in.sections[s.linked].discarded {
				s.discarded, s.mapped = true, false
			}
		}
	}
}

// placeThread reserves offsets from the thread pointer for the thread-local variables.
func (l *linker) placeThread() error {
	t := &l.template
	if len(t.sections) == 0 || t.size == 0 {
		return nil
	}
	size := roundUp(t.size, t.align)
	start, err := l.threads.reserve(l.machine.storage().Header, size, t.align)
	if err != nil {
		return err
	}
	l.threadStart, t.offset = start, int64(start)
	if l.machine.storage().Below {
		t.offset = -int64(start + size)
	}
	return nil
}

// text returns the address ranges of a file's code.
func (in *input) text() []Range {
	var list []Range
	for i := range in.sections {
		if s := &in.sections[i]; s.mapped && s.region == textRegion && s.size > 0 {
			list = append(list, Range{s.address, s.address + s.size})
		}
	}
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// finish fills the GOT, and the fields of the program.
func (l *linker) finish(p *Program) {
	l.got.data = make([]byte, l.got.size)
	for i, s := range l.slots {
		v := s.symbol.address() + uint64(s.addend)
		if s.thread {
			v = l.template.offsetOf(v, l.base)
		}
		order.PutUint64(l.got.data[8*i:], v)
	}
	p.symbols = make(map[string]uint64, len(l.globals))
	for name, g := range l.globals {
		if (g.kind == defined && g.owner != nil || g.kind == absolute) && !g.tls {
			p.symbols[name] = g.address()
		}
	}
	p.Init = append(l.array(elf.SHT_PREINIT_ARRAY, ".preinit_array"), l.array(elf.SHT_INIT_ARRAY, ".init_array")...)
	p.Fini = l.array(elf.SHT_FINI_ARRAY, ".fini_array")
	slices.Reverse(p.Fini)
	if t := &l.template; t.size > 0 {
		p.TLS = &TLS{Size: t.size, Align: t.align, Offset: t.offset}
		for _, s := range t.sections {
			if s.data != nil {
				at := s.offset - t.start
				p.TLS.Image = append(p.TLS.Image, make([]byte, at-uint64(len(p.TLS.Image)))...)
				p.TLS.Image = append(p.TLS.Image, s.data...)
			}
		}
	}
}

// array returns the words of the function arrays with a type or name. Those with a priority in their
// names (".init_array.00101") come first.
func (l *linker) array(typ elf.SectionType, name string) []uint64 {
	type part struct {
		priority uint64
		data     []byte
	}
	var parts []part
	for _, in := range l.inputs {
		for i := range in.sections {
			s := &in.sections[i]
			suffix, named := strings.CutPrefix(s.name, name)
			if !s.mapped || s.typ != typ && (!named || suffix != "" && suffix[0] != '.') {
				continue
			}
			priority := uint64(1 << 16) // after those with a priority
			if named && suffix != "" {
				if n, err := strconv.ParseUint(suffix[1:], 10, 16); err == nil {
					priority = n
				}
			}
			parts = append(parts, part{priority, s.data})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.priority, b.priority) })
	var list []uint64
	for _, p := range parts {
		for b := p.data; len(b) >= 8; b = b[8:] {
			list = append(list, order.Uint64(b))
		}
	}
	return list
}
