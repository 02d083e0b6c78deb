// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// The code sees registers that were set, and reads return the values that it leaves: the whole
// vector registers, also in a session that has never used them.
func TestVectorRegisters(t *testing.T) {
	vector := map[string]struct {
		name   string
		column uint64
		store  function
	}{
		"amd64": {"xmm3", 17 + 3, instructions("0f111f", "c3")}, // psABI amd64 table 3.36; movups [rdi], xmm3; ret
		"arm64": {"v3", 64 + 3, words(0x3d800003, ret64)},       // "DWARF for the Arm 64-bit Architecture" 4.1; str q3, [x0]; ret
	}[runtime.GOARCH]
	store, size, upper := vector.store, 16, ""
	if s := newSession(t); slices.ContainsFunc(s.RegisterInfos(), func(r RegisterInfo) bool { return r.Name == "ymm3h" }) {
		store = instructions("c5fe7f1f", "c3") // vmovdqu [rdi], ymm3
		size, upper = 32, "ymm3h"
	}
	i := newCode(t, "store", store.text)
	p, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for round := range 2 {
		s := newSession(t, i)
		stop, err := s.CallWith(start(i), Arguments{Words: []uint64{address}, StopAtEntry: true})
		check(t, stop, err, AtEntry)
		want := make([]byte, size)
		for n := range want {
			want[n] = byte(n + 1 + round)
		}
		if upper != "" { // first, so that it is in its initial state
			if err := s.SetRegister(upper, want[16:]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SetRegister(vector.name, want[:16]); err != nil {
			t.Fatal(err)
		}
		f, err := s.Frame()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := f.RegisterBytes(vector.column); !ok || !bytes.Equal(got[:size], want) {
			t.Errorf("% x", got)
		}
		if round == 1 {
			for n := range want {
				want[n] ^= 0x80
			}
			if err := f.SetRegisterBytes(vector.column, want); err != nil {
				t.Fatal(err)
			}
		}
		stop, err = s.Continue()
		check(t, stop, err, Returned)
		if !bytes.Equal(p[:size], want) {
			t.Errorf("% x, want % x", p[:size], want)
		}
		if err := s.SetRegister(vector.name, nil); !errors.Is(err, ErrNotStopped) {
			t.Error(err)
		}
	}
}
