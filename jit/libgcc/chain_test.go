// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android

package libgcc

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libgcc/internal/unwindtest"
)

// chain is a chain of generated functions: each calls the next, and the last calls a C
// function, with the same first argument. None has a frame pointer.
type chain struct {
	memory *jit.Memory
	code   *jit.Code
	entry  uintptr
}

// functionSize is the distance of the functions of a chain, in bytes.
const functionSize = 64

// newChain makes n functions. The caller calls the first, and the last calls target.
func newChain(t testing.TB, n int, target uintptr) *chain {
	t.Helper()
	return chainOf(t, n, target, nil)
}

// chainOf is like newChain, but the functions in switches call the next one on another stack, whose
// end the map contains.
func chainOf(t testing.TB, n int, target uintptr, switches map[int]uint64) *chain {
	t.Helper()
	generate, ok := map[string]func([]byte, uint64, int) *cfi.Builder{"amd64": amd64, "arm64": arm64}[runtime.GOARCH]
	if !ok {
		t.Skip("skipped: no generated code for " + runtime.GOARCH)
	}
	memory, err := jit.NewMemory(n * functionSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	c := &chain{memory: memory, entry: uintptr(memory.Address())}
	c.code = &jit.Code{Address: memory.Address(), Text: memory.Bytes()}
	for i := range n {
		next := memory.Address() + uint64(i+1)*functionSize
		if i == n-1 {
			next = uint64(target)
		}
		var p *cfi.Program
		top, switched := switches[i]
		if text := memory.Bytes()[i*functionSize:]; switched {
			p, err = switchStack(text, next, top)
		} else {
			p, err = generate(text, next, 16*(1+i%7)).Program()
		}
		if err != nil {
			t.Fatal(err)
		}
		c.code.Functions = append(c.code.Functions, jit.Function{
			Name: fmt.Sprint("f", i), Offset: uint64(i) * functionSize, Size: functionSize, Unwind: p, SwitchesStack: switched,
		})
	}
	if err := memory.Seal(); err != nil {
		t.Fatal(err)
	}
	return c
}

// amd64 writes
//
//	mov $next, %rax
//	sub $frame+8, %rsp
//	call *%rax
//	add $frame+8, %rsp
//	ret
func amd64(b []byte, next uint64, frame int) *cfi.Builder {
	out := binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, next)
	out = binary.LittleEndian.AppendUint32(append(out, 0x48, 0x81, 0xec), uint32(frame+8))
	out = append(out, 0xff, 0xd0, 0x48, 0x81, 0xc4)
	copy(b, append(binary.LittleEndian.AppendUint32(out, uint32(frame+8)), 0xc3))
	return cfi.NewBuilder(cfi.EntryCIE(jit.Host())).
		At(17).AdjustCFAOffset(int64(frame + 8)).
		At(26).AdjustCFAOffset(int64(-frame - 8))
}

// arm64 writes
//
//	movz, movk, movk, movk x9, #next
//	str x30, [sp, #-frame]!
//	blr x9
//	ldr x30, [sp], #frame
//	ret
func arm64(b []byte, next uint64, frame int) *cfi.Builder {
	var out []byte
	for i, op := range []uint32{0xd2800009, 0xf2a00009, 0xf2c00009, 0xf2e00009} {
		out = binary.LittleEndian.AppendUint32(out, op|uint32(next>>(16*i)&0xffff)<<5)
	}
	for _, op := range []uint32{0xf8000ffe | uint32(-frame&0x1ff)<<12, 0xd63f0120, 0xf84007fe | uint32(frame)<<12, 0xd65f03c0} {
		out = binary.LittleEndian.AppendUint32(out, op)
	}
	copy(b, out)
	return cfi.NewBuilder(cfi.EntryCIE(jit.Host())).
		At(20).DefCFAOffset(int64(frame)).Offset(30, int64(-frame)).
		At(28).DefCFAOffset(0).Restore(30)
}

// built compiles a shared library of testdata, once.
func built(t testing.TB, source string) unwindtest.Library {
	t.Helper()
	compiler := "gcc"
	if filepath.Ext(source) == ".cc" {
		compiler = "g++"
	}
	if c := os.Getenv("CLEW_TEST_" + map[string]string{"gcc": "CC", "g++": "CXX"}[compiler]); c != "" {
		compiler = c // for the emulated machine
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip("skipped: " + compiler + " is not installed")
	}
	library := filepath.Join(t.TempDir(), source+".so")
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-O1", "-o", library, filepath.Join("testdata", source)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	l, err := unwindtest.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// loaded are the names of the unwinders that tests load.
var loaded = map[string]string{"libgcc_s.so.1": "libgcc", "libunwind.so.1": "LLVM's libunwind"}

func load(t testing.TB, name string) unwindtest.Library {
	t.Helper()
	l, err := unwindtest.Open(name)
	if err != nil {
		t.Skip("skipped: " + loaded[name] + " is not installed")
	}
	return l
}

// request is struct request of testdata/backtrace.c.
type request struct {
	code, backtrace, ip uintptr
	count               uintptr
	ips                 [64]uintptr
}

// backtrace calls a chain. It returns the indexes of the functions that an unwinder finds
// below the chain's end, and whether it reaches the C function that called the chain.
func backtrace(t testing.TB, c *chain, library, unwinder unwindtest.Library) (functions []int, through bool) {
	t.Helper()
	memory := unwindtest.Allocate(int(unsafe.Sizeof(request{})))
	defer unwindtest.Free(memory)
	r := (*request)(unsafe.Pointer(&memory[0]))
	r.code, r.backtrace, r.ip = c.entry, unwinder.Symbol("_Unwind_Backtrace"), unwinder.Symbol("_Unwind_GetIP")
	bottom := library.Symbol("bottom")
	result, err := unwindtest.Call(bottom, uintptr(unsafe.Pointer(r)), 0)
	if err != nil || result < 1000 {
		t.Fatalf("the chain returned %d, %v", result, err)
	}
	for _, ip := range r.ips[:r.count] {
		if ip > bottom && ip < bottom+64 {
			through = true
		}
		if at := uint64(ip) - c.code.Address; at < uint64(len(c.code.Functions))*functionSize {
			functions = append(functions, int(at/functionSize))
		}
	}
	return functions, through
}

// down returns n-1, …, 0: the backtrace through a chain of n.
func down(n int) []int {
	var all []int
	for i := range n {
		all = append(all, n-1-i)
	}
	return all
}
