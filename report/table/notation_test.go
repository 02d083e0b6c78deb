// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"debug/elf"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/table"
)

// Operations are printed with all operands, even if call frame information cannot use them.
func TestInstructionOperands(t *testing.T) {
	machine := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for _, test := range []struct {
		data []byte
		want string
	}{
		{[]byte{0x16, 3, 2, 0xa8, 0x20}, "DW_CFA_val_expression rbx, DW_OP_convert 32"},
		{[]byte{0x16, 3, 2, 0xf7, 0x20}, "DW_CFA_val_expression rbx, DW_OP_GNU_convert 32"},
		{[]byte{0x10, 6, 3, 0xf5, 7, 0x20}, "DW_CFA_expression rbp, DW_OP_GNU_regval_type 7 32"},
		{[]byte{0x0f, 2, 0x77, 8}, "DW_CFA_def_cfa_expression DW_OP_breg7 (rsp) 8"},
		{[]byte{0x09, 3, 6}, "DW_CFA_register rbx, rbp"},
		{[]byte{0x31, 7, 0x7e, 2}, "DW_CFA_LLVM_def_aspace_cfa_sf rsp, -2, space 2"},
		{[]byte{0x0b}, "DW_CFA_restore_state"},
	} {
		s := &cfi.Section{Machine: machine, Data: test.data}
		fde := &cfi.FDE{CIE: &cfi.CIE{Section: s}, Instructions: test.data}
		d := fde.Decode()
		var ins cfi.Instruction
		if !d.Next(&ins) {
			t.Fatal(d.Err())
		}
		if got := string(table.AppendInstruction(nil, s, &ins)); got != test.want {
			t.Errorf("% x: %s, expected %s", test.data, got, test.want)
		}
	}
}
