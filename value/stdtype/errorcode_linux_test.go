// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build amd64 || arm64

package stdtype

import (
	"debug/elf"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
)

// TestErrnoNames compares the names with those of package unix, which are from the system's headers.
func TestErrnoNames(t *testing.T) {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	// gdb's printers print the names on the right, which are Python 3.11's.
	aliases := map[string]string{"EDEADLK": "EDEADLOCK", "EOPNOTSUPP": "ENOTSUP", "EFSCORRUPTED": "EUCLEAN", "EHWPOISON": "", "EFTYPE": ""}
	for n := int64(-1); n < 200; n++ {
		want := ""
		if n > 0 {
			want = unix.ErrnoName(syscall.Errno(n))
		}
		if alias, ok := aliases[want]; ok {
			want = alias
		}
		if got := errnoName(m, n); got != want {
			t.Errorf("error %d is %q, expected %q", n, got, want)
		}
	}
	mips := arch.Lookup(elf.EM_MIPS, elf.ELFCLASS32, elf.ELFDATA2MSB)
	if mips == nil {
		t.Fatal("no mips")
	}
	for n, want := range map[int64]string{1: "EPERM", 34: "ERANGE", 35: "", 133: ""} {
		if got := errnoName(mips, n); got != want {
			t.Errorf("error %d of mips is %q, expected %q", n, got, want)
		}
	}
}
