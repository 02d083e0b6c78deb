// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package number

import (
	"debug/elf"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
)

// TestDecimalText reads numbers that are not canonical. gdb's library reads them differently from
// IEEE 754-2008 §3.5.2. TestGDB compares other numbers with gdb.
func TestDecimalText(t *testing.T) {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	s390x := arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	for _, tt := range []struct {
		machine *arch.Machine
		bits    string // most significant first
		want    string
	}{
		{amd64, "32800001", "1"},
		{amd64, "b180000f", "-0.15"},
		{amd64, "6cb8967f", "9999999"},
		{amd64, "6cb89680", "0"}, // 10000000
		{amd64, "6c7386f26fc0ffff", "9999999999999999"},
		{amd64, "6c7fffffffffffff", "0E+1"},
		{amd64, "60000000000000000000000000000005", "0E-6176"}, // 2^113+5
		{amd64, "3040000000000000000000000000000f", "15"},
		{amd64, "7c000005", "NaN5"},
		{amd64, "7c0f4240", "NaN"}, // 1000000
		{amd64, "fe000000", "-sNaN"},
		{amd64, "78000007", "Infinity"},
		{amd64, "f800000000000000", "-Infinity"},
		{amd64, "0000", "<invalid float value>"},
		{s390x, "2234000000000015", "<invalid float value>"}, // packed digits
	} {
		b, err := hex.DecodeString(tt.bits)
		if err != nil {
			t.Fatal(err)
		}
		if !IsBigEndian(tt.machine) {
			slices.Reverse(b)
		}
		if got := Decimal(tt.machine, b); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.bits, tt.machine.Name, got, tt.want)
		}
	}
}
