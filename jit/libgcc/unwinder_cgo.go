// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct unwinder {
	void *register_frame, *deregister_frame; // both kinds
	void *add_section, *remove_section;      // LLVM from 12 on
	void *add_fde, *remove_fde;              // LLVM
	int parses_early;                        // libgcc from GCC 13 on
};

// object is where the object that has a symbol is loaded.
static void *object(void *symbol) {
	Dl_info info;
	return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

// sibling looks a symbol up in the object that has another one: a handle's
// scope holds other objects too, and so can be another unwinder's.
static void *sibling(void *handle, const char *name, void *of) {
	void *symbol = dlsym(handle, name);
	return symbol && object(symbol) == object(of) ? symbol : NULL;
}

// parses_early tells libgcc from GCC 13 on from those before it. It registers
// an FDE and lets it point elsewhere before the first lookup: who finds it
// there had not looked yet. The code is this struct's own memory, which nothing
// else describes.
static int parses_early(void *handle, const struct unwinder *u) {
	const void *(*find)(void *, void *) = (const void *(*)(void *, void *))sibling(handle, "_Unwind_Find_FDE", u->register_frame);
	if (!find)
		return 1;
	static struct {
		uint32_t cie_length, cie_id;
		uint8_t cie[16];
		uint32_t length, cie_pointer;
		uintptr_t start, size;
		uint8_t augmentation[8];
		uint32_t terminator;
		uint8_t code[64];
	} probe = {
		20, 0, {1, 'z', 'R', 0, 1, 0x78, 0, 1, 0x00},
		8 + 2 * sizeof(uintptr_t) + 4, 28,
	};
	void *bases[3];
	probe.start = (uintptr_t)probe.code;
	probe.size = 16;
	((void (*)(void *))u->register_frame)(&probe);
	probe.start += 32;
	int late = find(&probe.code[40], bases) != NULL;
	if (!late)
		probe.start -= 32;
	((void (*)(void *))u->deregister_frame)(&probe);
	return !late;
}

// find_unwinders finds the unwinders that are loaded, and keeps them so.
static int find_unwinders(struct unwinder *found, int max) {
	static const char *const names[] = {NULL, "libgcc_s.so.1", "libunwind.so.1"};
	int n = 0;
	for (int i = 0; i < 3 && n < max; i++) {
		void *handle = names[i] ? dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
		if (names[i] && !handle)
			continue;
		struct unwinder u;
		memset(&u, 0, sizeof u);
		u.register_frame = dlsym(handle, "__register_frame");
		u.deregister_frame = sibling(handle, "__deregister_frame", u.register_frame);
		int known = !u.register_frame || !u.deregister_frame;
		for (int k = 0; k < n; k++)
			known |= found[k].register_frame == u.register_frame;
		if (known)
			continue;
		Dl_info info;
		if (dladdr(u.register_frame, &info) && info.dli_fname)
			dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		u.add_fde = sibling(handle, "__unw_add_dynamic_fde", u.register_frame);
		u.remove_fde = sibling(handle, "__unw_remove_dynamic_fde", u.register_frame);
		u.add_section = sibling(handle, "__unw_add_dynamic_eh_frame_section", u.register_frame);
		u.remove_section = sibling(handle, "__unw_remove_dynamic_eh_frame_section", u.register_frame);
		u.parses_early = !u.add_fde && parses_early(handle, &u);
		found[n++] = u;
	}
	return n;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads) {
	*(uint64_t *)loads = size < offsetof(struct dl_phdr_info, dlpi_tls_modid) ? 0 : info->dlpi_adds;
	return 1;
}

// loads is how often the process has loaded an object.
static uint64_t loads(void) {
	uint64_t n = 0;
	dl_iterate_phdr(count_loads, &n);
	return n;
}

static void each(void *function, uintptr_t *addresses, size_t n) {
	for (size_t i = 0; i < n; i++)
		((void (*)(uintptr_t))function)(addresses[i]);
}
*/
import "C"

import "unsafe"

// found are the unwinders of the process, under the lock of the registry.
var found struct {
	loads C.uint64_t
	all   []*unwinder
	known map[unsafe.Pointer]*unwinder // by __register_frame
}

// findUnwinders returns the unwinders that are loaded: the one that the
// program's own symbols lead to, libgcc_s.so.1, and LLVM's libunwind.so.1. One
// that is found stays loaded.
func findUnwinders() []*unwinder {
	loads := C.loads()
	if loads != 0 && loads == found.loads {
		return found.all
	}
	found.loads = loads
	var in [3]C.struct_unwinder
	n := C.find_unwinders(&in[0], C.int(len(in)))
	if found.known == nil {
		found.known = make(map[unsafe.Pointer]*unwinder)
	}
	found.all = nil
	for i := range in[:n] {
		u, ok := found.known[in[i].register_frame]
		if !ok {
			u = newUnwinder(&in[i])
			found.known[in[i].register_frame] = u
		}
		found.all = append(found.all, u)
	}
	return found.all
}

func newUnwinder(c *C.struct_unwinder) *unwinder {
	if c.add_fde == nil {
		u := &unwinder{flavour: sectionList, register: each(c.register_frame), withdraw: each(c.deregister_frame)}
		if c.parses_early != 0 {
			u.flavour = rangeTree
		}
		return u
	}
	u := &unwinder{flavour: functionArray, registerFDEs: each(c.add_fde), withdrawFDEs: each(c.remove_fde)}
	if c.add_section != nil && c.remove_section != nil {
		u.register, u.withdraw = each(c.add_section), each(c.remove_section)
	}
	return u
}

// each returns a Go function that calls a C function with each address.
func each(function unsafe.Pointer) func([]uintptr) {
	return func(addresses []uintptr) {
		if len(addresses) > 0 {
			C.each(function, (*C.uintptr_t)(unsafe.Pointer(&addresses[0])), C.size_t(len(addresses)))
		}
	}
}

// processMemory is C's heap.
type processMemory struct{}

func (processMemory) allocate(size int) []byte {
	return unsafe.Slice((*byte)(C.malloc(C.size_t(size))), size)
}

func (processMemory) release(b []byte) { C.free(unsafe.Pointer(&b[0])) }
