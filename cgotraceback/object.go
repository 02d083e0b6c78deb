// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo && linux && !android && (amd64 || arm64)

package cgotraceback

// #include "tables.h"
// #include "objects.h"
import "C"

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"os"
	"unsafe"

	elfobject "github.com/clewdev/clew/object"
	"golang.org/x/sys/unix"
)

// object is a loaded object.
type object struct {
	name       string
	bias       uint64
	main, vdso bool
	id         []byte // build ID, cut to 32 bytes; nil if there is none
	content    uint64 // see digest; 0 with a build ID, and for the program
	mark       uint64 // see struct clew_module
	markBytes  [32]byte
	markSize   uint32
	segments   []segment
}

type segment struct {
	start, size uint64 // without the bias
	flags       uint32
}

// newObject returns the object that the dynamic linker has described. The kernel's object is at vdso.
func newObject(from *C.struct_clew_object, main bool, vdso uint64) object {
	o := object{name: C.GoString(&from.name[0]), bias: uint64(from.bias), main: main}
	if o.main {
		o.name = "/proc/self/exe"
	}
	headers := from.header[:from.header_count]
	for i := range headers {
		h := &headers[i]
		if h.p_type != C.PT_LOAD {
			continue
		}
		s := segment{uint64(h.p_vaddr), uint64(h.p_memsz), uint32(h.p_flags)}
		o.segments = append(o.segments, s)
		o.vdso = o.vdso || vdso != 0 && vdso-o.bias-s.start < s.size
		if h.p_flags&C.PF_X != 0 { // without a build ID, the addresses and sizes of the code are the mark
			const vaddr = unsafe.Offsetof(h.p_vaddr)
			o.mark = uint64(from.headers) + uint64(i)*uint64(unsafe.Sizeof(*h)) + uint64(vaddr)
			o.markSize = uint32(copy(o.markBytes[:], unsafe.Slice((*byte)(unsafe.Pointer(&h.p_vaddr)), 32))) // vaddr, paddr, filesz, memsz
		}
	}
	for i := range headers {
		if h := &headers[i]; h.p_type == C.PT_NOTE && o.findID(o.bias+uint64(h.p_vaddr), uint64(h.p_filesz)) {
			break
		}
	}
	if o.id == nil && !o.main && !o.vdso {
		o.content = digest(&o)
	}
	return o
}

// findID looks for the build ID in notes, and makes it the mark. The dynamic linker does not read them, so
// that they need not be mapped.
func (o *object) findID(at, size uint64) bool {
	if size > 1<<16 {
		return false
	}
	b := make([]byte, size)
	if (ownMemory{}).ReadMemory(b, at) != nil {
		return false
	}
	const head = 12
	for left := b; len(left) > head; {
		nameSize, descSize := uint64(binary.LittleEndian.Uint32(left)), uint64(binary.LittleEndian.Uint32(left[4:]))
		desc := head + (nameSize+3)&^3
		if desc > uint64(len(left)) || descSize > uint64(len(left))-desc {
			return false
		}
		if binary.LittleEndian.Uint32(left[8:]) == C.NT_GNU_BUILD_ID && nameSize == 4 && string(left[head:desc]) == "GNU\x00" && descSize >= 8 {
			o.mark = at + uint64(len(b)-len(left)) + desc
			o.markSize = uint32(copy(o.markBytes[:], left[desc:desc+descSize]))
			o.id = append([]byte(nil), o.markBytes[:o.markSize]...)
			return true
		}
		left = left[min(desc+(descSize+3)&^3, uint64(len(left))):]
	}
	return false
}

// at returns the segment with code that contains a run-time address.
func (o *object) at(address uint64) (segment, bool) {
	for _, s := range o.segments {
		if elf.ProgFlag(s.flags)&elf.PF_X != 0 && address-o.bias-s.start < s.size {
			return s, true
		}
	}
	return segment{}, false
}

// isPinned reports whether an object is never unloaded.
func (o *object) isPinned() bool {
	if o.main || o.vdso {
		return true
	}
	for _, a := range []uint64{uint64(uintptr(unsafe.Pointer(C.clew_traceback))), uint64(C.clew_library_code())} {
		if _, ok := o.at(a); ok {
			return true
		}
	}
	return false
}

// vdsoAt returns the object that the kernel has mapped.
func vdsoAt(base uint64) (o object, ok bool) {
	source, err := elfobject.FromMemory(ownMemory{}, base, "[vdso]")
	if err != nil {
		return o, false
	}
	defer source.Close()
	o = object{name: "linux-vdso.so.1", bias: source.ImageBias(), vdso: true}
	for _, p := range source.Segments() {
		if p.Type == elf.PT_LOAD {
			o.segments = append(o.segments, segment{p.Vaddr, p.Memsz, uint32(p.Flags)})
		}
	}
	return o, true
}

// ownMemory is the memory of this process. An address that is not mapped is an error: the kernel copies,
// because another thread can unmap the memory at any time, as dlclose does.
type ownMemory struct{}

func (ownMemory) ReadMemory(p []byte, addr uint64) error {
	if len(p) == 0 {
		return nil
	}
	if addr+uint64(len(p)) < addr {
		return unix.EFAULT
	}
	here := []unix.Iovec{{Base: &p[0], Len: uint64(len(p))}}
	there := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}
	n, err := unix.ProcessVMReadv(os.Getpid(), here, there, 0)
	if err != nil && err != unix.EFAULT {
		return byPipe(p, uintptr(addr))
	}
	if n != len(p) {
		return unix.EFAULT
	}
	return nil
}

// byPipe copies memory through a pipe, where the kernel refuses process_vm_readv.
func byPipe(p []byte, addr uintptr) error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return err
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	for len(p) > 0 {
		part := p[:min(len(p), 4096)]
		written, _, errno := unix.Syscall(unix.SYS_WRITE, uintptr(ends[1]), addr, uintptr(len(part)))
		if errno != 0 || int(written) != len(part) {
			return unix.EFAULT
		}
		if n, err := unix.Read(ends[0], part); n != len(part) {
			return errors.Join(err, unix.EFAULT)
		}
		p, addr = p[len(part):], addr+uintptr(len(part))
	}
	return nil
}

// digestSize bounds the bytes of a digest, which become resident.
const digestSize = 4 << 20

var digestSeed = maphash.MakeSeed()

// digest tells loaded objects without a build ID apart, which can have the same name and sizes:
// a program can load a library, unload it, and load its next version. The digest is a hash of the
// start of the segments that nothing writes. It is 0 if the object was unloaded since.
func digest(o *object) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	left := uint64(digestSize)
	for _, s := range o.segments {
		if elf.ProgFlag(s.flags)&(elf.PF_R|elf.PF_W) != elf.PF_R {
			continue
		}
		b := make([]byte, min(s.size, left))
		left -= uint64(len(b))
		if (ownMemory{}).ReadMemory(b, o.bias+s.start) != nil {
			return 0
		}
		_, _ = h.Write(b)
	}
	return h.Sum64()
}
