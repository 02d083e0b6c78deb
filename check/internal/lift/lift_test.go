// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package lift

import (
	"slices"
	"testing"
)

// checkDecoded decodes an instruction and checks that the result is within its limits.
func checkDecoded(t *testing.T, m Machine, code []byte, operations []Operation) []Operation {
	i := Instruction{Right: NoRegister}
	operations, ok := m.Decode(code, 0x1000, &i, operations[:0])
	a := m.ABI()
	if len(operations) != int(i.Count) || ok && (i.Size == 0 || int(i.Size) > min(a.MaxSize, len(code))) {
		t.Fatalf("% x: %d operations, %d counted, %d bytes", code, len(operations), i.Count, i.Size)
	}
	inside := func(number uint8) bool { return int(number) < a.Registers || number == Scratch }
	for k := range operations {
		o := &operations[k]
		if !inside(o.To) || o.From != NoRegister && !inside(o.From) || o.Index != NoRegister && !inside(o.Index) {
			t.Fatalf("% x: %+v", code, o)
		}
	}
	if i.Clobbered&^(1<<Scratch)>>a.Registers != 0 || i.Compare && (!inside(i.Left) || i.Right != NoRegister && !inside(i.Right)) {
		t.Fatalf("% x: %+v", code, i)
	}
	if (i.Flow == FlowJumpIndirect || i.Flow == FlowReturn && a.Link != NoRegister) && !inside(i.Register) {
		t.Fatalf("% x: jumps by register %d", code, i.Register)
	}
	return operations
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"\x53\x48\x83\xec\x10", "\x62\xf1\x7c\x48\x10\x04\x24", "\xfd\x7b\xbe\xa9", "\x3f\x23\x03\xd5", "\x20\x00\x1f\xd6", "\xdf\x57\x3f\x04"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		for i := range machines {
			checkDecoded(t, machines[i].machine, code, nil)
			machines[i].machine.Calls(code, 0x1000, func(_, _ uint64) {})
		}
	})
}

// A number and its column are converted back and forth.
func TestNumbers(t *testing.T) {
	for i := range machines {
		a := machines[i].machine.ABI()
		for number := range a.Registers {
			if got := a.Number(uint64(a.Column(number))); got != number || len(a.Names) != a.Registers {
				t.Errorf("%s: register %d has column %d, which is register %d", Names()[i], number, a.Column(number), got)
			}
		}
		if !slices.IsSorted(a.Preserved) {
			t.Errorf("%s: %v", Names()[i], a.Preserved)
		}
		for _, column := range []uint64{47, 100, 1 << 40} {
			if a.Number(column) != NoRegister {
				t.Errorf("%s: column %d has a register", Names()[i], column)
			}
		}
	}
}
