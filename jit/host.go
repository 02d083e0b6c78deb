// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
)

// Host returns the machine of this program, or nil if Clew does not know it.
func Host() *arch.Machine { return host() }

var host = sync.OnceValue(func() *arch.Machine {
	data := elf.ELFDATA2LSB
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	return arch.LookupGo(strings.TrimSuffix(runtime.GOARCH, "le"), data)
})
