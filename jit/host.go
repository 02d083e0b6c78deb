// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/clewdev/clew/arch"
)

// Host returns the machine that this program runs on, nil where Clew does not
// know it.
func Host() *arch.Machine { return host() }

var host = sync.OnceValue(hostMachine)

func hostMachine() *arch.Machine {
	machine, class := elf.EM_NONE, elf.ELFCLASS64
	switch runtime.GOARCH {
	case "386":
		machine, class = elf.EM_386, elf.ELFCLASS32
	case "amd64":
		machine = elf.EM_X86_64
	case "arm":
		machine, class = elf.EM_ARM, elf.ELFCLASS32
	case "arm64":
		machine = elf.EM_AARCH64
	case "loong64":
		machine = elf.EM_LOONGARCH
	case "ppc64", "ppc64le":
		machine = elf.EM_PPC64
	case "riscv64":
		machine = elf.EM_RISCV
	case "s390x":
		machine = elf.EM_S390
	default:
		return nil
	}
	data := elf.ELFDATA2LSB
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	return arch.Lookup(machine, class, data)
}
