// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
)

// glibc locates the thread-local storage of libraries. glibc describes its structures to
// debuggers by variables with known names (nptl_db/structs.def). Each is three words of 32
// bits: the size of a field in bits, the number of its elements if it is an array, and its
// offset in its structure in bytes.
type glibc struct {
	list uint64 // run-time address of the pointer to the list of modules

	listLength, listNext, listSlots field // struct dtv_slotinfo_list
	slotGeneration, slotMap         field // struct dtv_slotinfo
	dtvPointer                      field // struct pthread
	dtvSlots                        field // the thread's vector, an array of these:
	dtvGeneration, dtvValue         field // union dtv
	mapOffset                       field // struct link_map

	pthread uint64 // offset of the thread pointer in struct pthread

	modules map[*stack.Object]*module // results of findModule
}

type field struct{ bits, count, offset uint32 }

// module is an object with thread-local storage.
type module struct {
	id, generation uint64
	linkMap        uint64 // run-time address

	err error // why it was not found
}

// Bounds for hostile memory.
const (
	maxModules    = 1 << 14
	maxFieldStart = 1 << 16 // bytes of a structure
)

var errNoThreadSymbols = errors.New("thread-local storage of a shared library needs glibc's _thread_db symbols, which the target lacks")

// openGlibc finds the C library among a target's objects.
func (r *Reader) openGlibc() (*glibc, error) {
	g := &glibc{modules: make(map[*stack.Object]*module)}
	found, err := false, error(nil)
	var listOffset field
	var global uint64
	for o := range r.objects.All() {
		base := path.Base(o.Name)
		isLibrary := strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "libc-") || strings.HasPrefix(base, "libpthread")
		if !isLibrary && !strings.HasPrefix(base, "ld-") && !strings.HasPrefix(base, "ld.so") {
			continue
		}
		f, openErr := o.File()
		if openErr != nil {
			if isLibrary {
				err = openErr
			}
			continue
		}
		if !isLibrary {
			if s, ok := f.Symbol("_rtld_global"); ok {
				global = s.Address + o.Bias
			}
			continue
		}
		if _, ok := f.Symbol("_thread_db_dtv_dtv"); !ok || found {
			continue
		}
		if listOffset, err = g.read(f); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		found = true
	}
	switch {
	case !found && err != nil:
		return nil, err
	case !found:
		return nil, errNoThreadSymbols
	case global == 0:
		return nil, errors.New("thread-local storage of a shared library: no dynamic linker with the symbol _rtld_global was found")
	}
	g.list = global + uint64(listOffset.offset)
	return g, nil
}

// read reads the descriptions in a library's file. It returns that of the list of modules in
// the dynamic linker's structure.
func (g *glibc) read(f *object.File) (list field, err error) {
	word := 8 * uint32(f.Machine().AddressSize)
	for _, d := range []struct {
		name string
		to   *field
		bits uint32
	}{
		{"rtld_global__dl_tls_dtv_slotinfo_list", &list, word},
		{"dtv_slotinfo_list_len", &g.listLength, word},
		{"dtv_slotinfo_list_next", &g.listNext, word},
		{"dtv_slotinfo_list_slotinfo", &g.listSlots, 2 * word},
		{"dtv_slotinfo_gen", &g.slotGeneration, word},
		{"dtv_slotinfo_map", &g.slotMap, word},
		{"pthread_dtvp", &g.dtvPointer, word},
		{"dtv_dtv", &g.dtvSlots, 2 * word},
		{"dtv_t_counter", &g.dtvGeneration, word},
		{"dtv_t_pointer_val", &g.dtvValue, word},
		{"link_map_l_tls_offset", &g.mapOffset, word},
	} {
		var b [12]byte
		if err := readSymbol(f, "_thread_db_"+d.name, b[:]); err != nil {
			return list, err
		}
		o := f.Machine().Order
		*d.to = field{o.Uint32(b[:]), o.Uint32(b[4:]), o.Uint32(b[8:])}
		if d.to.bits != d.bits || d.to.offset > maxFieldStart {
			return list, fmt.Errorf("_thread_db_%s: %d bits at byte %#x, expected %d in a structure of less than %#x bytes", d.name, d.to.bits, d.to.offset, d.bits, maxFieldStart)
		}
	}
	if s := f.Machine().ThreadStorage; s != nil && !s.Below { // struct pthread ends at the thread pointer
		var b [4]byte
		if err := readSymbol(f, "_thread_db_const_thread_area", b[:]); err != nil {
			return list, err
		}
		g.pthread = uint64(f.Machine().Order.Uint32(b[:]))
	}
	return list, nil
}

// readSymbol reads the content of a variable.
func readSymbol(f *object.File, name string, p []byte) error {
	s, ok := f.Symbol(name)
	if !ok {
		return fmt.Errorf("no symbol %s", name)
	}
	if err := f.ReadMemory(p, s.Address); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// storageOfLibrary returns the run-time address of a library's storage for the frame's
// thread.
func (f *Frame) storageOfLibrary(o *stack.Object, file *object.File, pointer uint64) (uint64, error) {
	r := f.reader
	if r.glibc == nil && r.glibcErr == nil {
		r.glibc, r.glibcErr = r.openGlibc()
	}
	g := r.glibc
	if r.glibcErr != nil {
		return 0, r.glibcErr
	}
	m := g.modules[o]
	if m == nil {
		m = f.findModule(o, file)
		g.modules[o] = m // also a failure, because many variables can need it
	}
	if m.err != nil {
		return 0, m.err
	}
	step := uint64(g.dtvSlots.bits / 8)
	vector, err := f.word(pointer - g.pthread + uint64(g.dtvPointer.offset))
	if err != nil {
		return 0, err
	}
	vector += uint64(g.dtvSlots.offset)
	// The element before the first holds the number of elements. The first holds the
	// generation of the list of modules that the thread has seen.
	count, err := f.word(vector - step + uint64(g.dtvGeneration.offset))
	if err != nil {
		return 0, err
	}
	generation, err := f.word(vector + uint64(g.dtvGeneration.offset))
	if err != nil {
		return 0, err
	}
	if m.id <= count && m.generation <= generation {
		start, err := f.word(vector + step*m.id + uint64(g.dtvValue.offset))
		if err != nil {
			return 0, err
		}
		if start != 0 && start != f.ones() {
			return start, nil
		}
	}
	// The storage can be static, next to the program's. Then the vector need not have it.
	offset, err := f.word(m.linkMap + uint64(g.mapOffset.offset))
	switch {
	case err != nil:
		return 0, err
	case offset == 0 || offset >= f.ones()-1: // NO_TLS_OFFSET, FORCED_DYNAMIC_TLS_OFFSET
		return 0, fmt.Errorf("the thread has not used the thread-local storage of %s yet", o.Name)
	case r.snapshot.Machine.ThreadStorage.Below:
		return pointer - offset, nil
	}
	return pointer + offset, nil
}

// findModule finds an object in glibc's list of modules with thread-local storage.
func (f *Frame) findModule(o *stack.Object, file *object.File) *module {
	g := f.reader.glibc
	dynamic, _ := segmentOf(file, elf.PT_DYNAMIC)
	list, err := f.word(g.list)
	for seen := uint64(0); err == nil && list != 0; {
		var n uint64
		if n, err = f.word(list + uint64(g.listLength.offset)); err != nil {
			break
		}
		if n == 0 || n > maxModules-seen {
			err = fmt.Errorf("glibc's list of modules with thread-local storage has %#x of them at %#x, expected 1 to %#x", n, list, maxModules-seen)
			break
		}
		for i := range n {
			slot := list + uint64(g.listSlots.offset) + i*uint64(g.listSlots.bits/8)
			linkMap, err := f.word(slot + uint64(g.slotMap.offset))
			if err != nil {
				return &module{err: err}
			}
			if linkMap != 0 && f.isLinkMap(linkMap, o.Bias, dynamic.Vaddr+o.Bias) {
				generation, err := f.word(slot + uint64(g.slotGeneration.offset))
				return &module{id: seen + i, generation: generation, linkMap: linkMap, err: err}
			}
		}
		seen += n
		list, err = f.word(list + uint64(g.listNext.offset))
	}
	if err == nil {
		err = fmt.Errorf("%s is not in glibc's list of modules with thread-local storage", o.Name)
	}
	return &module{err: err}
}

// isLinkMap reports whether link.h's struct link_map at an address is that of an object
// with this bias and dynamic section. Its first and third words are l_addr and l_ld.
func (f *Frame) isLinkMap(address, bias, dynamic uint64) bool {
	if at, err := f.word(address); err != nil || at != bias {
		return false
	}
	at, err := f.word(address + 2*uint64(f.reader.snapshot.Machine.AddressSize))
	return err == nil && at == dynamic
}

// word reads an address of the target.
func (f *Frame) word(address uint64) (uint64, error) {
	m := f.reader.snapshot.Machine
	var b [8]byte
	if err := f.ReadMemory(b[:m.AddressSize], address); err != nil {
		return 0, fmt.Errorf("thread-local storage: %w", err)
	}
	return m.Uint(b[:m.AddressSize]), nil
}

// ones returns the address with all bits set.
func (f *Frame) ones() uint64 { return ^uint64(0) >> (64 - 8*f.reader.snapshot.Machine.AddressSize) }
