// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"runtime/debug"

	"github.com/clewdev/clew/object/internal/gotable"
)

// GoInfo is the build information that the Go toolchain writes into a program.
type GoInfo struct {
	Version string           // "go1.26.0"
	Build   *debug.BuildInfo // nil if the program has no module information
}

// Go returns the build information of a program, or of a C program with a Go library;
// false if the Go toolchain did not build the file.
func (f *File) Go() (info GoInfo, ok bool) {
	f.noteFault(func() { info, ok = f.goInfo() })
	return info, ok
}

// goInfo decodes .go.buildinfo (debug/buildinfo): a magic, the size of a
// pointer, flags, and at 32 the strings or, up to Go 1.17, at 16 pointers to them.
func (f *File) goInfo() (info GoInfo, ok bool) {
	i, found := f.find(".go.buildinfo")
	if !found {
		_, _, ok = f.pclntab()
		return info, ok
	}
	data, _ := f.content(i)
	if len(data) < 32 || !bytes.HasPrefix(data, []byte("\xff Go buildinf:")) {
		return info, false
	}
	var version, module []byte
	if data[15]&2 != 0 {
		rest := data[32:]
		version, rest = cutString(rest)
		module, _ = cutString(rest)
	} else if word := int(data[14]); word == 4 || word == 8 {
		order := binary.ByteOrder(binary.LittleEndian)
		if data[15]&1 != 0 {
			order = binary.BigEndian
		}
		version = f.goString(getUint(data[16:], order, word), order, word)
		module = f.goString(getUint(data[16+word:], order, word), order, word)
	}
	if len(version) > 1<<10 {
		version = nil
	}
	info.Version = string(version)
	// The module information is between two magics of 16 bytes.
	if len(module) >= 33 && len(module) <= 4<<20 && module[len(module)-17] == '\n' {
		if build, err := debug.ParseBuildInfo(string(module[16 : len(module)-16])); err == nil {
			info.Build = build
		}
	}
	return info, true
}

func cutString(b []byte) (s, rest []byte) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil
	}
	return b[k:][:n], b[k:][n:]
}

// goString reads the Go string with its header at addr.
func (f *File) goString(addr uint64, order binary.ByteOrder, word int) []byte {
	header, err := f.view(addr, uint64(2*word))
	if err != nil {
		return nil
	}
	s, err := f.view(getUint(header, order, word), getUint(header[word:], order, word))
	if err != nil {
		return nil
	}
	return s
}

// GoFunction describes a Go function at an address. The data comes from .gopclntab, which
// stripped programs have too.
type GoFunction struct {
	Name       string
	Entry, End uint64 // its code: [Entry, End)
	Depth      int    // bytes of stack taken since the entry, -1 if unknown
	TopFrame   bool   // stacks start in it
	WritesSP   bool   // it moves the stack pointer in ways that Depth does not describe
	Assembly   bool   // it was written in assembly language
}

// GoFunctionAt returns the Go function that contains addr.
func (f *File) GoFunctionAt(addr uint64) (g GoFunction, ok bool) {
	f.withGoFunction(addr, func(t *gotable.Table, fn *gotable.Record) {
		g, ok = GoFunction(t.Describe(fn, addr)), true
	})
	return g, ok
}

// maxGoNames bounds the names whose functions a file remembers.
const maxGoNames = 64

// goNamed is the result of GoFunctionNamed.
type goNamed struct {
	function GoFunction
	ok       bool
}

// GoFunctionNamed returns the first Go function with a name, as described at its entry. The first call
// for a name searches the whole table. Later ones remember its result.
func (f *File) GoFunctionNamed(name string) (g GoFunction, ok bool) {
	f.mu.Lock()
	known, found := f.goNames[name]
	f.mu.Unlock()
	if found {
		return known.function, known.ok
	}
	g, ok = f.findGoFunction(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.goNames == nil {
		f.goNames = make(map[string]goNamed)
	}
	if len(f.goNames) < maxGoNames {
		f.goNames[name] = goNamed{g, ok}
	}
	return g, ok
}

func (f *File) findGoFunction(name string) (g GoFunction, ok bool) {
	f.noteFault(func() {
		t, _ := f.goTable()
		if t == nil {
			return
		}
		for i := range t.Count() {
			if fn, found := t.Find(t.Start(i)); found && t.HasName(&fn, name) {
				g, ok = GoFunction(t.Describe(&fn, fn.Entry)), true
				return
			}
		}
	})
	return g, ok
}

// GoArgument is a number among the arguments of a Go function, or a mark between numbers:
// the list by which the runtime prints arguments in tracebacks. Strings, slices,
// interfaces and structures are several numbers in braces.
type GoArgument struct {
	Kind GoArgumentKind

	Offset uint64 // of a number: from the CFA of the frame upwards, bytes
	Size   int    // of a number: bytes

	// Live reports whether the place of a number is known to hold the argument. An argument
	// that is passed in a register is stored there only if the function still needs it.
	Live bool
}

// GoArgumentKind is the kind of a [GoArgument].
type GoArgumentKind uint8

const (
	GoNumber GoArgumentKind = GoArgumentKind(gotable.Number)
	GoOpen   GoArgumentKind = GoArgumentKind(gotable.Open)  // the brace before the numbers of a value
	GoClose  GoArgumentKind = GoArgumentKind(gotable.Close) // the brace after them
	GoMore   GoArgumentKind = GoArgumentKind(gotable.More)  // more arguments follow, which the list leaves out
	GoFar    GoArgumentKind = GoArgumentKind(gotable.Far)   // a number too far from the CFA for the table
)

// GoArguments returns the arguments of the Go function (1.18 or later) that contains addr,
// also in stripped programs; false if the file does not describe them. Called says that
// the function waits at addr for a call to return. A function that was interrupted may not
// yet have stored the arguments that were passed in registers.
func (f *File) GoArguments(addr uint64, called bool) (list []GoArgument, ok bool) {
	g := f.arch.Go
	if g == nil {
		return nil, false
	}
	f.withGoFunction(addr, func(t *gotable.Table, fn *gotable.Record) {
		var found []gotable.Argument
		if found, ok = t.Arguments(fn, addr, g.ArgumentsOffset, called); found == nil {
			return
		}
		list = make([]GoArgument, len(found))
		for i, a := range found {
			list[i] = GoArgument{Kind: GoArgumentKind(a.Kind), Offset: a.Offset, Size: a.Size, Live: a.Live}
		}
	})
	return list, ok
}

// withGoFunction calls use with the Go function that contains addr, if there is one.
func (f *File) withGoFunction(addr uint64, use func(*gotable.Table, *gotable.Record)) {
	f.noteFault(func() {
		t, _ := f.goTable()
		if t == nil {
			return
		}
		if fn, ok := t.Find(addr); ok {
			use(t, &fn)
		}
	})
}

// locateGo is [File.Locate] by .gopclntab.
func (f *File) locateGo(addr uint64) []Location {
	t, _ := f.goTable()
	if t == nil {
		return nil
	}
	fn, ok := t.Find(addr)
	if !ok {
		return nil
	}
	return goLocations(t.Locations(&fn, addr))
}

func goLocations(found []gotable.Location) (list []Location) {
	for _, l := range found {
		list = append(list, Location{Function: l.Function, File: l.File, Line: l.Line, Inlined: l.Inlined})
	}
	return list
}

// pclntab returns the content of .gopclntab and its address.
func (f *File) pclntab() (data []byte, address uint64, ok bool) {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if i, ok := f.find(name); ok {
			data, err := f.content(i)
			return data, f.section(i).addr, err == nil && len(data) > 0
		}
	}
	// Other linkers merge all sections with this prefix.
	i, ok := f.find(".data.rel.ro")
	if _, isGo := f.find(".go.buildinfo"); !ok || !isGo {
		return nil, 0, false
	}
	data, err := f.content(i)
	if err != nil {
		return nil, 0, false
	}
	at, ok := gotable.Search(data)
	if !ok {
		return nil, 0, false
	}
	return data[at:], f.section(i).addr + uint64(at), true
}

// openGoTable opens .gopclntab; nil if the file has none.
func (f *File) openGoTable() (*gotable.Table, error) {
	data, address, ok := f.pclntab()
	if !ok {
		return nil, nil
	}
	t, err := gotable.New(data)
	if err != nil || !t.IsRelative() {
		return t, err
	}
	text, functionData := uint64(0), []byte(nil)
	if _, code, ok := f.goModule(t, address); ok {
		text = code.Text
		if p, ok := f.segmentAt(code.Data); ok && code.Data != 0 {
			functionData, _ = f.view(code.Data, p.Vaddr+p.Memsz-code.Data)
		}
	} else if text, ok = f.goText(t); !ok {
		return nil, errors.New(".gopclntab: the start of the Go code is not known")
	}
	t.SetCode(text, functionData)
	return t, nil
}

// goText returns the address of runtime.text of a program without a moduledata. Without
// symbols it is the start of .text if the entry point is then in the table, as it is in
// programs that Go's own linker linked.
func (f *File) goText(t *gotable.Table) (addr uint64, ok bool) {
	if s, ok := f.Symbol("runtime.text"); ok {
		return s.Address, true
	}
	for i := range f.sectionCount() {
		if s := f.section(i); s.typ == elf.SHT_PROGBITS && hasName(f.names, uint64(s.name), ".text") {
			t.SetCode(s.addr, nil)
			fn, ok := t.Find(f.entry)
			return s.addr, ok && fn.Entry == f.entry
		}
	}
	return 0, false
}

// findGo looks the remaining queries up in .gopclntab, and returns how many it answered.
func (s *finder) findGo() (done int) {
	t, err := s.goTable()
	s.problems.add(err)
	if t == nil {
		return 0
	}
	for i := range s.queries {
		q := &s.queries[i]
		if q.done {
			continue
		}
		fn, ok := t.Find(q.addr)
		if !ok {
			continue
		}
		name := t.Name(&fn)
		if s.names -= len(name); name == "" || s.names < 0 {
			continue
		}
		s.symbols[q.index] = Symbol{
			Name: name, Address: fn.Entry, Size: fn.End - fn.Entry,
			Type: elf.STT_FUNC, Source: GoSymbols,
		}
		q.done = true
		done++
	}
	return done
}
