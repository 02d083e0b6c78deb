// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux

package unwindtest

/*
#cgo LDFLAGS: -ldl -lpthread
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct call {
	uintptr_t (*function)(uintptr_t, uintptr_t);
	uintptr_t a, b, result;
};

static void *thread(void *p) {
	struct call *c = p;
	c->result = c->function(c->a, c->b);
	return NULL;
}

// call_on_thread calls a function on a new thread, without frames of Go.
static int call_on_thread(uintptr_t function, uintptr_t a, uintptr_t b, uintptr_t *result) {
	struct call c = {(uintptr_t (*)(uintptr_t, uintptr_t))function, a, b, 0};
	pthread_t t;
	int error = pthread_create(&t, NULL, thread, &c);
	if (!error)
		error = pthread_join(t, NULL);
	*result = c.result;
	return error;
}

static uintptr_t symbol(void *handle, const char *name) { return (uintptr_t)dlsym(handle, name); }
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Library is a loaded shared library. It is never unloaded.
type Library struct{ handle unsafe.Pointer }

// Open loads a shared library by its path, or by a name that the dynamic linker finds. Its
// symbols are local.
func Open(path string) (Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return Library{}, fmt.Errorf("dlopen: %s", C.GoString(C.dlerror()))
	}
	return Library{handle}, nil
}

// Symbol returns the address of a symbol of the library or of its dependencies, or 0 if there
// is none.
func (l Library) Symbol(name string) uintptr {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return uintptr(C.symbol(l.handle, s))
}

// Call calls the function at an address with two words, on another thread, and returns
// its result.
func Call(function, a, b uintptr) (uintptr, error) {
	var result C.uintptr_t
	if errno := C.call_on_thread(C.uintptr_t(function), C.uintptr_t(a), C.uintptr_t(b), &result); errno != 0 {
		return 0, syscall.Errno(errno)
	}
	return uintptr(result), nil
}

// Allocate returns C memory, which never moves.
func Allocate(size int) []byte { return unsafe.Slice((*byte)(C.calloc(1, C.size_t(size))), size) }

// Free frees memory that Allocate returned.
func Free(b []byte) { C.free(unsafe.Pointer(&b[0])) }
