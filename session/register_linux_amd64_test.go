// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// The x87 registers have the values that x87 instructions store.
func TestFloatRegisters(t *testing.T) {
	f := instructions("d9e8", "d9ee", "d9eb", "d937", "db7f20", "c3") // fld1, fldz, fldpi; fnstenv [rdi]; fstp [rdi+32]; ret
	i := newCode(t, "x87", f.text)
	p, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	s := newSession(t, i)
	if _, err := s.Break(start(i)+f.at[3], nil); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), address)
	check(t, stop, err, AtBreakpoint)
	read := func(name string) uint64 {
		t.Helper()
		b, err := s.Register(name)
		if err != nil {
			t.Fatal(name, err)
		}
		return binary.LittleEndian.Uint64(append(b, make([]byte, 8)...))
	}
	control, status, tag := read("fctrl"), read("fstat"), read("ftag")
	if one := fmt.Sprint(s.Register("st2")); one != fmt.Sprint([]byte{7: 0x80, 8: 0xff, 9: 0x3f}, nil) {
		t.Error("st2", one)
	}
	number := []byte{7: 0xc0, 8: 0x00, 9: 0x40} // 3
	if err := s.SetRegister("st0", number); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRegister("ftag", binary.LittleEndian.AppendUint32(nil, uint32(tag))); err != nil {
		t.Fatal(err)
	}
	if again := read("ftag"); again != tag {
		t.Errorf("ftag %#x, was %#x", again, tag)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	for n, want := range []uint64{control, status, tag} {
		// The environment has 32 bits each (Intel SDM volume 1, figure 8-9).
		if got := uint64(binary.LittleEndian.Uint16(p[4*n:])); got != want {
			t.Errorf("word %d of the environment is %#x, the register %#x", n, got, want)
		}
	}
	if !bytes.Equal(p[32:42], number) {
		t.Errorf("st0 % x", p[32:42])
	}
}
