// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// The control registers of the vector unit and the thread pointer have the values that the
// code's instructions read and write.
func TestControlRegisters(t *testing.T) {
	// Stores fpcr, fpsr and tpidr_el0 where x0 points, and writes x3, x4 and x5 to them.
	i := newCode(t, "control", words(0xd53b4401, 0xd53b4422, 0xa9000801, 0xd53bd041, 0xf9000801,
		0xd51b4403, 0xd51b4424, 0xd51bd045, 0xd503201f, ret64).text)
	nop := start(i) + 4*8
	p, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	names := []string{"fpcr", "fpsr", "tpidr"}
	const (
		towardZero  = 3 << 22 // FPCR.RMode
		overflow    = 1 << 2  // FPSR.OFC
		toNearest   = 1 << 24 // FPCR.FZ, with the other rounding
		saturation  = 1 << 27 // FPSR.QC
		one, second = 0x123456789abcdef0, 0x0fedcba987654321
	)
	before, after := []uint64{towardZero, overflow, one}, []uint64{toNearest, saturation, second}
	s := newSession(t, i)
	if _, err := s.Break(nop, nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.CallWith(start(i), Arguments{Words: []uint64{address, 0, 0, after[0], after[1], after[2]}, StopAtEntry: true})
	check(t, stop, err, AtEntry)
	for n, name := range names {
		if err := s.SetRegister(name, binary.LittleEndian.AppendUint64(nil, before[n])); err != nil {
			t.Fatal(name, err)
		}
	}
	stop, err = s.Continue()
	check(t, stop, err, AtBreakpoint)
	for n, name := range names {
		if got := binary.LittleEndian.Uint64(p[8*n:]); got != before[n] {
			t.Errorf("the code reads %s as %#x, not %#x", name, got, before[n])
		}
		b, err := s.Register(name)
		if got := binary.LittleEndian.Uint64(append(b, make([]byte, 8)...)); err != nil || got != after[n] {
			t.Errorf("%s is %#x, %v; the code set it to %#x", name, got, err, after[n])
		}
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
}
