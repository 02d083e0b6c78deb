// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind_test

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/libunwind"
)

func TestFind(t *testing.T) {
	const at = 0x401ffc
	little := func(v byte) []byte { return []byte{v, 0, 0, 0, 0, 0, 0, 0} }
	for _, test := range []struct {
		name    string
		machine *arch.Machine
		code    string
		want    uint64
	}{
		{"lea", amd64, "488d05 10000000 c3 cccccccccccccccc", at + 7 + 0x10},
		{"lea down", amd64, "488d05 f0ffffff c3 cccccccccccccccc", at + 7 - 0x10},
		{"endbr64, lea", amd64, "f30f1efa 488d05 10000000 c3 cccccccc", at + 11 + 0x10},
		{"lea at the end of the memory", amd64, "488d05 10000000 c3", at + 7 + 0x10},
		{"mov", amd64, "488b05 fdefbfff c3 cccccccccccccccc", 0x99}, // the address is in memory at 0x1000
		{"lea, no ret", amd64, "488d05 10000000 90 cccccccccccccccc", 0},
		{"lea of another register", amd64, "488d0d 10000000 c3 cccccccccccccccc", 0},
		{"nothing", amd64, "", 0},
		{"short", amd64, "48", 0},
		{"adrp, add", arm64, "80000090 00400491 c0035fd6 1f2003d5", 0x411000 + 0x110},
		{"adrp down, add", arm64, "e0ffff90 00400491 c0035fd6 1f2003d5", 0x3fd000 + 0x110},
		{"adrp with low bits", arm64, "000000b0 00400491 c0035fd6 1f2003d5", 0x402110},
		{"bti c, adrp, add", arm64, "5f2403d5 80000090 00400491 c0035fd6", 0x412000 + 0x110},
		{"adrp, ldr", arm64, "00e0ff90 000040f9 c0035fd6 1f2003d5", 0x99},
		{"adrp, add, no ret", arm64, "80000090 00400491 1f2003d5 1f2003d5", 0},
		{"adrp of another register", arm64, "81000090 00400491 c0035fd6 1f2003d5", 0},
		{"another machine", i386, "488d05 10000000 c3 cccccccccccccccc", 0},
	} {
		t.Run(test.machine.Name+" "+test.name, func(t *testing.T) {
			m := memory{at: unhex(t, test.code), 0x1000: little(0x99), 0x1000 + 0x1000: little(0x98)}
			got, err := libunwind.Find(test.machine, m, func(name string) (uint64, bool) { return at, name == "_U_dyn_info_list_addr" })
			if test.want == 0 {
				if !errors.Is(err, libunwind.ErrList) || got != 0 {
					t.Fatalf("got %#x, %v", got, err)
				}
				return
			}
			if got != test.want || err != nil {
				t.Errorf("got %#x, %v, want %#x", got, err, test.want)
			}
			both, err := libunwind.Find(test.machine, m, func(name string) (uint64, bool) { return at, true })
			if both != test.want || err != nil {
				t.Errorf("with both symbols: %#x, %v", both, err)
			}
		})
	}
	got, err := libunwind.Find(amd64, memory{}, func(string) (uint64, bool) { return 0, false })
	if got != 0 || !errors.Is(err, libunwind.ErrNoList) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no symbol: %#x, %v", got, err)
	}
	got, err = libunwind.Find(amd64, memory{}, func(name string) (uint64, bool) { return 0x55, true })
	if got != 0x55 || err != nil {
		t.Errorf("a function that cannot be read, and a variable: %#x, %v", got, err)
	}
}

// The function as compilers translate libunwind's source, which returns the
// address of a hidden variable.
func TestFindCompiled(t *testing.T) {
	const source = `
struct { unsigned version, generation; void *first; } _U_dyn_info_list __attribute__((visibility("hidden"))) = {1};
void *_U_dyn_info_list_addr(void) { return &_U_dyn_info_list; }
`
	for _, test := range []struct {
		machine  *arch.Machine
		compiler string
		flags    string
	}{
		{amd64, "gcc", "-O2"},
		{amd64, "gcc", "-O2 -fcf-protection"},
		{amd64, "clang", "-O2"},
		{arm64, "aarch64-linux-gnu-gcc", "-O2"},
		{arm64, "aarch64-linux-gnu-gcc", "-O2 -mbranch-protection=standard"},
	} {
		t.Run(test.compiler+" "+test.flags, func(t *testing.T) {
			if _, err := exec.LookPath(test.compiler); err != nil {
				t.Skipf("skipped: %s is not installed", test.compiler)
			}
			dir := t.TempDir()
			in, out := filepath.Join(dir, "list.c"), filepath.Join(dir, "list.so")
			if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields(test.flags), "-nostdlib", "-shared", "-fPIC", "-o", out, in)
			if text, err := exec.Command(test.compiler, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f, err := elf.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			text := f.Section(".text")
			code, err := text.Data()
			if err != nil {
				t.Fatal(err)
			}
			all, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			symbols := map[string]uint64{}
			for _, s := range all {
				symbols[s.Name] = s.Value
			}
			got, err := libunwind.Find(test.machine, memory{text.Addr: code}, func(name string) (uint64, bool) {
				return symbols[name], name == "_U_dyn_info_list_addr"
			})
			if err != nil || got != symbols["_U_dyn_info_list"] {
				t.Errorf("got %#x, %v, want %#x", got, err, symbols["_U_dyn_info_list"])
			}
		})
	}
}
