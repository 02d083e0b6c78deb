// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/arch/x86/x86asm"

	"github.com/clewdev/clew/object"
)

// Runtime is the Go runtime that a program or a library of C's brings with it. It may
// be used from several goroutines.
type Runtime struct {
	Layout *Layout

	// Addresses at run time: the pointer to the list of goroutines and its length
	// (runtime.allgptr, allglen), and the newest m, 0 where that is not known
	// (runtime.allm).
	list, length, threads uint64
}

// ErrNoRuntime: a file has no Go runtime of its own. Plugins use that of their program.
var ErrNoRuntime = errors.New("it has no Go runtime")

// New finds the runtime of a file that is loaded with a bias. The error wraps
// ErrNoRuntime or ErrUnknownVersion, or says what of the runtime is not to be found.
func New(f *object.File, bias uint64) (*Runtime, error) {
	if _, ok := f.Go(); !ok {
		return nil, ErrNoRuntime
	}
	// The function that goes through the list, also for a dump of all stacks.
	each, ok := f.GoFunctionNamed("runtime.forEachGRace")
	if !ok {
		if start, ok := f.GoFunctionAt(f.Entry()); ok && start.Name == "" {
			return nil, fmt.Errorf("%w: its functions have no names, which garble -tiny removes", ErrUnknownVersion)
		}
		return nil, ErrNoRuntime
	}
	if m := f.Machine(); m.AddressSize != 8 || m.Order != binary.LittleEndian || loadsOf(m.ELF) == nil {
		return nil, fmt.Errorf("%w: of Go on %s", ErrUnknownVersion, m.Name)
	}
	layout, err := LayoutOf(f)
	if err != nil {
		return nil, err
	}
	r := &Runtime{Layout: layout}
	list, isList := f.Symbol("runtime.allgptr")
	length, isLength := f.Symbol("runtime.allglen")
	if isList && isLength {
		r.list, r.length = list.Address, length.Address
	} else if r.list, r.length, err = fromCode(f, &each); err != nil {
		return nil, err
	}
	r.list += bias
	r.length += bias
	if threads, ok := f.Symbol("runtime.allm"); ok {
		r.threads = threads.Address + bias
	}
	return r, nil
}

// maxCode is how much of a function of the runtime is looked at: those begin with what is
// looked for.
const maxCode = 128

// fromCode finds the variables in the code of forEachGRace, which loads first the
// length, then the pointer to the list.
func fromCode(f *object.File, each *object.GoFunction) (list, length uint64, err error) {
	code := make([]byte, min(each.End-each.Entry, maxCode))
	if err := f.ReadMemory(code, each.Entry); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", each.Name, err)
	}
	found := loadsOf(f.Machine().ELF)(code, each.Entry)
	if len(found) < 2 {
		return 0, 0, fmt.Errorf("the code of %s, at %#x, is not known", each.Name, each.Entry)
	}
	return found[1], found[0], nil
}

// loadsOf returns what finds the addresses of the words that code at an address loads,
// in its order; nil where the machine is not known.
func loadsOf(machine elf.Machine) func(code []byte, at uint64) []uint64 {
	switch machine {
	case elf.EM_X86_64:
		return loadsAMD64
	case elf.EM_AARCH64:
		return loadsARM64
	}
	return nil
}

// loadsAMD64 finds mov disp(%rip),%reg.
func loadsAMD64(code []byte, at uint64) (list []uint64) {
	for len(code) > 0 {
		i, err := x86asm.Decode(code, 64)
		if err != nil || i.Op == x86asm.CALL {
			break
		}
		code, at = code[i.Len:], at+uint64(i.Len)
		if m, ok := i.Args[1].(x86asm.Mem); ok && i.Op == x86asm.MOV && m.Base == x86asm.RIP && i.DataSize == 64 {
			list = append(list, at+uint64(m.Disp))
		}
	}
	return list
}

// loadsARM64 finds adrp, add and ldar or ldr (Arm ARM C6.2).
func loadsARM64(code []byte, at uint64) (list []uint64) {
	var pages pagesARM64
	for ; len(code) >= 4; code, at = code[4:], at+4 {
		i := binary.LittleEndian.Uint32(code)
		pages.add(i, at)
		from := i >> 5 & 31
		switch {
		case i&0xfffffc00 == 0xc8dffc00: // ldar
			if pages[from] != 0 {
				list = append(list, pages[from])
			}
		case i&0xffc00000 == 0xf9400000: // ldr
			if pages[from] != 0 {
				list = append(list, pages[from]+uint64(i>>10&0xfff)*8)
			}
		case i&0xfc000000 == 0x94000000, i&0xfffffc1f == 0xd63f0000: // bl, blr
			return list
		}
	}
	return list
}

// pagesARM64 is, by register, what adrp and add have made of addresses; 0 for nothing.
type pagesARM64 [32]uint64

// add adds what an instruction makes, and returns the address that is whole with it.
func (p *pagesARM64) add(i uint32, at uint64) (address uint64, ok bool) {
	to, from := i&31, i>>5&31
	switch {
	case i&0x9f000000 == 0x90000000: // adrp
		p[to] = at&^0xfff + uint64(int64(int32(i>>5&0x7ffff<<13|i>>29&3<<11))>>11<<12)
	case i&0xffc00000 == 0x91000000 && p[from] != 0: // add
		p[to] = p[from] + uint64(i>>10&0xfff)
		return p[to], true
	}
	return 0, false
}
