// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

/*
#cgo CFLAGS: -fPIC
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// dlsym does not find an unwinder that the linker put into the program: a static
// program has no dynamic symbols, and one with -static-libgcc does not export
// libgcc's. Weak references find it without linking it. In position-independent code
// the dynamic linker resolves them, to the functions themselves and not to stubs.
#pragma weak __register_frame
#pragma weak __deregister_frame
#pragma weak _Unwind_Find_FDE
#pragma weak __unw_add_dynamic_fde
#pragma weak __unw_remove_dynamic_fde
#pragma weak __unw_add_dynamic_eh_frame_section
#pragma weak __unw_remove_dynamic_eh_frame_section
extern void __register_frame(void *), __deregister_frame(void *);
extern const void *_Unwind_Find_FDE(void *, void *);
extern void __unw_add_dynamic_fde(uintptr_t), __unw_remove_dynamic_fde(uintptr_t);
extern void __unw_add_dynamic_eh_frame_section(uintptr_t), __unw_remove_dynamic_eh_frame_section(uintptr_t);

// open_loaded is dlopen for an object that is already loaded. It looks dlopen up,
// because the linker of a static program warns of a direct reference.
static void *open_loaded(const char *name, int flags) {
	void *(*open)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
	return open ? open(name, RTLD_LAZY | RTLD_NOLOAD | flags) : NULL;
}

struct unwinder {
	void *register_frame, *deregister_frame; // both kinds
	void *find_fde;                          // both kinds
	void *add_fde, *remove_fde;              // LLVM
	void *add_section, *remove_section;      // LLVM from 12 on
	int parses_early;                        // libgcc from GCC 13 on
};

// object returns the load address of the object that defines a symbol.
static void *object(void *symbol) {
	Dl_info info;
	return symbol && dladdr(symbol, &info) ? info.dli_fbase : NULL;
}

// only clears the functions that are not in the object that defines a symbol: the
// scope of the program or of a handle can contain several unwinders.
static void only(struct unwinder *u, void *symbol) {
	void **all[] = {&u->register_frame, &u->deregister_frame, &u->find_fde,
		&u->add_fde, &u->remove_fde, &u->add_section, &u->remove_section};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (object(*all[i]) != object(symbol))
			*all[i] = NULL;
}

// parses_early reports whether libgcc is that of GCC 13 or later. It registers
// an FDE and changes its address before the first lookup: an unwinder that finds the
// new address parses late. The code is this struct's own memory, which no other
// table describes.
static int parses_early(const struct unwinder *u) {
	const void *(*find)(void *, void *) = (const void *(*)(void *, void *))u->find_fde;
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

// key identifies an unwinder: a function that it always has.
static void *key(const struct unwinder *u) { return u->add_fde ? u->add_fde : u->register_frame; }

struct unwinders {
	struct unwinder all[5];
	int count;
};

// take adds an unwinder if it is complete and new, and keeps it loaded.
static void take(struct unwinders *found, struct unwinder u) {
	if (!u.add_fde || !u.remove_fde)
		u.add_fde = NULL;
	if (!u.add_fde && (!u.register_frame || !u.deregister_frame))
		return;
	for (int i = 0; i < found->count; i++)
		if (key(&found->all[i]) == key(&u))
			return;
	Dl_info info;
	if (dladdr(key(&u), &info) && info.dli_fname)
		open_loaded(info.dli_fname, RTLD_NODELETE);
	u.parses_early = !u.add_fde && parses_early(&u);
	found->all[found->count++] = u;
}

// find_unwinders finds the unwinders that are linked or loaded.
static void find_unwinders(struct unwinders *found) {
	// LLVM's __register_frame is in a static program only if the program refers to it.
	void *linked[] = {__register_frame, __unw_add_dynamic_fde};
	for (int i = 0; i < 2; i++) {
		struct unwinder u = {
			.register_frame = __register_frame,
			.deregister_frame = __deregister_frame,
			.find_fde = _Unwind_Find_FDE,
			.add_fde = __unw_add_dynamic_fde,
			.remove_fde = __unw_remove_dynamic_fde,
			.add_section = __unw_add_dynamic_eh_frame_section,
			.remove_section = __unw_remove_dynamic_eh_frame_section,
		};
		if (!linked[i])
			continue;
		only(&u, linked[i]);
		take(found, u);
	}
	static const char *const names[] = {NULL, "libgcc_s.so.1", "libunwind.so.1"};
	for (int i = 0; i < 3; i++) {
		void *handle = RTLD_DEFAULT;
		if (names[i] && !(handle = open_loaded(names[i], 0)))
			continue;
		struct unwinder u = {
			.register_frame = dlsym(handle, "__register_frame"),
			.deregister_frame = dlsym(handle, "__deregister_frame"),
			.find_fde = dlsym(handle, "_Unwind_Find_FDE"),
			.add_fde = dlsym(handle, "__unw_add_dynamic_fde"),
			.remove_fde = dlsym(handle, "__unw_remove_dynamic_fde"),
			.add_section = dlsym(handle, "__unw_add_dynamic_eh_frame_section"),
			.remove_section = dlsym(handle, "__unw_remove_dynamic_eh_frame_section"),
		};
		if (!u.register_frame)
			continue;
		only(&u, u.register_frame);
		take(found, u);
	}
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads) {
	*(uint64_t *)loads = size < offsetof(struct dl_phdr_info, dlpi_tls_modid) ? 0 : info->dlpi_adds;
	return 1;
}

// loads returns how many objects the process has loaded so far.
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

// found contains the unwinders of the process, under the lock of the registry.
var found struct {
	loads C.uint64_t
	all   []*unwinder
	known map[unsafe.Pointer]*unwinder // by key
}

// findUnwinders returns the unwinders of the process: linked into the program, found
// by its symbols, libgcc_s.so.1, and LLVM's libunwind.so.1. An unwinder that was found
// stays loaded.
func findUnwinders() []*unwinder {
	loads := C.loads()
	if loads != 0 && loads == found.loads {
		return found.all
	}
	found.loads = loads
	var in C.struct_unwinders
	C.find_unwinders(&in)
	if found.known == nil {
		found.known = make(map[unsafe.Pointer]*unwinder)
	}
	found.all = nil
	for i := range in.all[:in.count] {
		c := &in.all[i]
		u, ok := found.known[C.key(c)]
		if !ok {
			u = newUnwinder(c)
			found.known[C.key(c)] = u
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

// processMemory is the C heap.
type processMemory struct{}

func (processMemory) allocate(size int) []byte {
	return unsafe.Slice((*byte)(C.malloc(C.size_t(size))), size)
}

func (processMemory) release(b []byte) { C.free(unsafe.Pointer(&b[0])) }
