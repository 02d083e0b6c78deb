// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package library

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stddef.h>

// entry_point returns a function of the loaded libunwind, or NULL: from the symbols of the
// program, or from a library that was loaded with local symbols.
static void *entry_point(const char *name) {
	void *symbol = dlsym(RTLD_DEFAULT, name);
	if (!symbol) {
		void *library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_NOLOAD);
		if (library) {
			symbol = dlsym(library, name);
			dlclose(library);
		}
	}
	return symbol;
}

struct libunwind {
	void *add, *cancel;
	void *flush, **space; // for the cache; NULL if not found
};

// sibling looks up a symbol in the object at base, because other objects may define it too.
static void *sibling(void *library, const char *name, void *base) {
	Dl_info i;
	void *symbol = dlsym(library, name);
	return symbol && dladdr(symbol, &i) && i.dli_fbase == base ? symbol : NULL;
}

// find_libunwind finds the functions, in one object, and keeps it loaded.
static int find_libunwind(struct libunwind *u) {
	Dl_info a, c;
	u->add = entry_point("_U_dyn_register");
	u->cancel = entry_point("_U_dyn_cancel");
	if (!u->add || !u->cancel || !dladdr(u->add, &a) || !dladdr(u->cancel, &c) || a.dli_fbase != c.dli_fbase)
		return 0;
	void *library = a.dli_fname ? dlopen(a.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
	if (!library) // libunwind is part of the program
		library = dlopen(NULL, RTLD_LAZY);
#ifdef __x86_64__
	u->flush = sibling(library, "_Ux86_64_flush_cache", a.dli_fbase);
	u->space = sibling(library, "_ULx86_64_local_addr_space", a.dli_fbase);
#else
	u->flush = sibling(library, "_Uaarch64_flush_cache", a.dli_fbase);
	u->space = sibling(library, "_ULaarch64_local_addr_space", a.dli_fbase);
#endif
	return 1;
}

static void add(struct libunwind *u, uintptr_t info) { ((void (*)(uintptr_t))u->add)(info); }

// cancel also flushes libunwind's cached data for the code, which _U_dyn_cancel does not.
// Otherwise libunwind would use it for the next code at these addresses.
static void cancel(struct libunwind *u, uintptr_t info, uintptr_t low, uintptr_t high) {
	((void (*)(uintptr_t))u->cancel)(info);
	if (u->flush && u->space)
		((void (*)(void *, uintptr_t, uintptr_t))u->flush)(*u->space, low, high);
}
*/
import "C"

import (
	"sync"

	"github.com/clewdev/clew/jit/libunwind/internal/calls"
)

func init() { calls.Loaded, calls.Register, calls.Cancel = loaded, register, cancel }

// library is the libunwind of the process, once found.
var library struct {
	sync.Mutex
	found bool
	calls C.struct_libunwind
}

// loaded reports whether the process has a libunwind. Once found, it stays loaded.
func loaded() bool {
	library.Lock()
	defer library.Unlock()
	library.found = library.found || C.find_libunwind(&library.calls) != 0
	return library.found
}

// register puts an Info at the front of libunwind's list. register and cancel are safe
// for concurrent use (_U_dyn_register(3)).
func register(info uint64) { C.add(&library.calls, C.uintptr_t(info)) }

// cancel removes an Info of the code [low, high) from the list.
func cancel(info, low, high uint64) {
	C.cancel(&library.calls, C.uintptr_t(info), C.uintptr_t(low), C.uintptr_t(high))
}
