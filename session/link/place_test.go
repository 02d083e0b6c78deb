// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"testing"

	"github.com/clewdev/clew/object"
)

// Place links a file for any machine, with symbols of other files, in the same way each time.
func TestPlace(t *testing.T) {
	const text = `
extern __thread int other;
extern int far(int), variable, weak(void) __attribute__((weak));
int f(int a) { return far(a) + other + variable + (weak ? weak() : 0); }
int table[2] = {1, 2}, *pointer = &table[1];`
	for _, test := range []struct {
		compiler string
		machine  elf.Machine
	}{{"x86_64-linux-gnu-gcc", elf.EM_X86_64}, {"aarch64-linux-gnu-gcc", elf.EM_AARCH64}} {
		for _, flag := range []string{"-O2", "-fPIC", "-fno-pic"} {
			t.Run(test.compiler+" "+flag, func(t *testing.T) {
				dir := t.TempDir()
				path, source := dir+"/f.o", dir+"/f.c"
				if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				run(t, test.compiler, flag, "-c", "-o", path, source)
				var images [2][]byte
				for i := range images {
					file, err := object.Open(path)
					if err != nil {
						t.Fatal(err)
					}
					defer file.Close()
					p, err := Place(file)
					if err != nil {
						t.Fatal(err)
					}
					if len(p.Objects) != 2 || len(p.Objects[0].Text) != 1 || p.Start != placed {
						t.Errorf("%+v", p)
					}
					images[i] = p.Objects[0].ELF
				}
				if !bytes.Equal(images[0], images[1]) {
					t.Error("the images differ")
				}
				f, err := object.NewFile(images[0], "f")
				if err != nil {
					t.Fatal(err)
				}
				var word [8]byte
				pointer, _ := f.Symbol("pointer")
				table, _ := f.Symbol("table")
				if err := f.ReadMemory(word[:], pointer.Address); err != nil || order.Uint64(word[:]) != table.Address+4 || f.Machine().ELF != test.machine {
					t.Errorf("pointer % x to %#x, %v", word, table.Address, err)
				}
			})
		}
	}
	program, err := object.Open("/proc/self/exe")
	if err != nil {
		t.Skip("skipped:", err)
	}
	defer program.Close()
	if _, err := Place(program); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an executable: %v", err)
	}
}
