// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"slices"
	"strings"
	"testing"
)

func TestFacts(t *testing.T) {
	for _, test := range []struct {
		fact string
		has  func(m *Machine) bool
		want string
	}{
		{"CharUnsigned", func(m *Machine) bool { return m.C.CharUnsigned }, "arm arm64 arm64ilp32 ppc ppc64 riscv32 riscv64 s390 s390x"},
		{"X87", func(m *Machine) bool { return m.C.LongDouble == X87 }, "i386 x32 x86-64"},
		{"M68881", func(m *Machine) bool { return m.C.LongDouble == M68881 }, "m68k"},
		{"DoubleDouble", func(m *Machine) bool { return m.C.LongDouble == DoubleDouble }, "ppc ppc64"},
		{"PackedDecimals", func(m *Machine) bool { return m.C.PackedDecimals }, "ppc ppc64 s390 s390x"},
		{"OwnErrnos", func(m *Machine) bool { return m.C.OwnErrnos }, "alpha hppa mips mips64 mipsn32 sparc sparc32plus sparc64"},
		{"VirtualInAdjustment", func(m *Machine) bool { return m.C.VirtualInAdjustment }, "arm arm64 arm64ilp32"},
		{"MappingSymbols", func(m *Machine) bool { return m.MappingSymbols }, "arm arm64 arm64ilp32 riscv32 riscv64"},
		{"LongHash", func(m *Machine) bool { return m.LongHash }, "alpha s390x"},
		{"ShortTypes", func(m *Machine) bool { return m.ShortTypes }, "mips64 sparc64"},
		{"SignsReturns", func(m *Machine) bool { return m.SignsReturns }, "arm64 arm64ilp32"},
		{"RegisterWindows", func(m *Machine) bool { return m.RegisterWindows }, "sparc sparc32plus sparc64"},
		{"LongAdvances", func(m *Machine) bool { return m.LongAdvances }, "mips mips64 mipsn32"},
		{"ThreadStorage", func(m *Machine) bool { return m.ThreadStorage != nil }, "arm64 x86-64"},
		{"Results", func(m *Machine) bool { return m.Results != nil }, "arm64 x86-64"},
		{"Trap", func(m *Machine) bool { return m.Processor.Trap != nil }, "arm64 arm64ilp32 i386 x32 x86-64"},
		{"TrapStops", func(m *Machine) bool { return m.Processor.TrapStops }, "arm64 arm64ilp32"},
		{"CoherentCode", func(m *Machine) bool { return m.Processor.CoherentCode }, "i386 x32 x86-64"},
		{"WatchesBefore", func(m *Machine) bool { return m.Processor.WatchesBefore }, "arm64 arm64ilp32"},
		{"EntryCode", func(m *Machine) bool { return m.EntryCode != 0 }, "arm64 arm64ilp32"},
		{"RegionUnit", func(m *Machine) bool { return m.RegionUnit != 0 }, "arm64 x86-64"},
	} {
		var got []string
		for _, m := range all() {
			name := strings.TrimSuffix(strings.TrimSuffix(m.Name, "le"), "be")
			if test.has(m) && !slices.Contains(got, name) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s\nwant %s", test.fact, s, test.want)
		}
	}
}
