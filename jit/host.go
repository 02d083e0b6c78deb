// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"debug/elf"
	"encoding/binary"
	"runtime"

	"github.com/clewdev/clew/arch"
)

// Host returns the machine that this program runs on, nil where Clew does not
// know it.
func Host() *arch.Machine { return host }

var host = hostMachine()

// hosts are the machines that Go programs run on.
var hosts = map[string]struct {
	machine elf.Machine
	class   elf.Class
}{
	"386":     {elf.EM_386, elf.ELFCLASS32},
	"amd64":   {elf.EM_X86_64, elf.ELFCLASS64},
	"arm":     {elf.EM_ARM, elf.ELFCLASS32},
	"arm64":   {elf.EM_AARCH64, elf.ELFCLASS64},
	"loong64": {elf.EM_LOONGARCH, elf.ELFCLASS64},
	"ppc64":   {elf.EM_PPC64, elf.ELFCLASS64},
	"ppc64le": {elf.EM_PPC64, elf.ELFCLASS64},
	"riscv64": {elf.EM_RISCV, elf.ELFCLASS64},
	"s390x":   {elf.EM_S390, elf.ELFCLASS64},
}

func hostMachine() *arch.Machine {
	h, ok := hosts[runtime.GOARCH]
	if !ok {
		return nil
	}
	data := elf.ELFDATA2LSB
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	return arch.Lookup(h.machine, h.class, data)
}
