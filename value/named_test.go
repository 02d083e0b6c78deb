// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
)

// pointingFrame is a fakeFrame with a memory that consists of one address.
type pointingFrame struct{ fakeFrame }

func (f *pointingFrame) ReadMemory(p []byte, addr uint64) error {
	clear(p)
	copy(p, binary.LittleEndian.AppendUint64(nil, 0x1234))
	return nil
}

// TestPointerToDeclared prints a pointer without searching all units for the definition of its
// target. The definition is found when it is needed.
func TestPointerToDeclared(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	args := []string{"-g", "-o", program}
	for name, text := range map[string]string{
		"a.c": "struct s; struct s *p; int main(void) { return p != 0; }",
		"b.c": "struct s { int n; } whole;",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := object.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pointer := func() *Variable {
		t.Helper()
		info, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		v, err := info.Global("p", 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := pointer()
	if text := NewPrinter(0).Argument(v, new(pointingFrame)); text != "p=0x1234" {
		t.Error(text)
	}
	to := v.Type.Elem()
	sought := true
	to.complete.Do(func() { sought = false })
	if sought || !to.partial {
		t.Errorf("the definition of %s was sought", to)
	}
	if whole := pointer().Type.Elem().Strip(); whole.partial || whole.Size() != 4 {
		t.Errorf("%s is found with %d bytes", whole, whole.Size())
	}
}
