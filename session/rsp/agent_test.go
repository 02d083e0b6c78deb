// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// agentMemory has the byte n at address n, and register n has n in all bytes.
type agentMemory struct{}

func (agentMemory) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		if address+uint64(i) >= 0x100 {
			return errors.New("not mapped")
		}
		p[i] = byte(address) + byte(i)
	}
	return nil
}

func (agentMemory) register(n int) (uint64, error) {
	if n > 16 {
		return 0, errRegister
	}
	return uint64(n) * 0x0101010101010101, nil
}

func TestAgent(t *testing.T) {
	tests := []struct {
		name, code string
		want       uint64
		err        string
	}{
		{"constant", "22 07 27", 7, ""},
		{"constants", "23 0102 24 03040506 02 25 0708090a0b0c0d0e 02 27", 0x0102 + 0x03040506 + 0x0708090a0b0c0d0e, ""},
		{"subtract", "22 05 22 07 03 27", ^uint64(1), ""},
		{"multiply", "22 05 22 07 04 27", 35, ""},
		{"divide signed", "22 f9 2a 08 16 08 22 02 05 27", ^uint64(2), ""},
		{"divide unsigned", "22 f9 22 02 06 27", 0x7c, ""},
		{"remainder", "22 f9 16 08 22 02 07 27", ^uint64(0), ""},
		{"remainder unsigned", "22 f9 22 02 08 27", 1, ""},
		{"by zero", "22 f9 22 00 05 27", 0, "division by 0"},
		{"shifts", "22 01 22 08 09 22 04 0b 27", 16, ""},
		{"shift signed", "22 80 16 08 22 ff 0a 27", ^uint64(0), ""},
		{"shift too far", "22 01 22 40 09 27", 0, ""},
		{"logic", "22 00 0e 22 06 0f 22 02 10 22 03 11 27", 1, ""},
		{"not", "22 00 12 27", ^uint64(0), ""},
		{"equal", "22 05 22 05 13 27", 1, ""},
		{"less signed", "22 ff 16 08 22 00 14 27", 1, ""},
		{"less unsigned", "22 ff 16 08 22 00 15 27", 0, ""},
		{"memory", "22 10 17 27", 0x10, ""},
		{"memory 16", "22 10 18 27", 0x1110, ""},
		{"memory 32", "22 10 19 27", 0x13121110, ""},
		{"memory 64", "22 10 1a 27", 0x1716151413121110, ""},
		{"unmapped memory", "23 1000 1a 27", 0, "not mapped"},
		{"register", "26 0003 27", 0x0303030303030303, ""},
		{"no register", "26 0099 27", 0, "no such register"},
		{"jump to the end", "22 01 20 0008 22 05 27", 0, "no end instruction"},
		{"jump taken", "22 01 20 0008 22 05 27 22 09 27", 9, ""},
		{"jump not taken", "22 00 20 0008 22 05 27 22 09 27", 5, ""},
		{"loop", "21 0000", 0, "more than"},
		{"duplicate", "22 03 28 04 27", 9, ""},
		{"pop", "22 03 22 04 29 27", 3, ""},
		{"swap", "22 03 22 04 2b 03 27", 1, ""},
		{"pick", "22 03 22 04 32 01 27", 3, ""},
		{"pick too far", "22 03 22 04 32 02 27", 0, "value 2 from the top of 2"},
		{"rotate", "22 01 22 02 22 03 33 27", 2, ""},
		{"rotate, second", "22 01 22 02 22 03 33 29 27", 1, ""},
		{"rotate, third", "22 01 22 02 22 03 33 29 29 27", 3, ""},
		{"extend by 0", "22 01 16 00 27", 0, "0 bits"},
		{"extend by 65", "22 01 2a 41 27", 0, "65 bits"},
		{"no code", "", 0, "no end instruction"},
		{"end with an empty stack", "27", 0, "no value at the end"},
		{"too few", "22 01 02 27", 0, "1 values on the stack"},
		{"incomplete operand", "25 01", 0, "incomplete operand"},
		{"floating point", "22 01 01 27", 0, "0x1 is not supported"},
		{"trace", "0c 27", 0, "0xc is not supported"},
		{"unknown", "ff", 0, "0xff is not supported"},
		{"overflow", strings.Repeat("2201", 65) + "27", 0, "64 values"},
	}
	for _, test := range tests {
		code, err := hex.DecodeString(strings.ReplaceAll(test.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := agent(code, binary.LittleEndian, agentMemory{})
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %#x, %v", test.name, got, err)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %#x, and not %#x, %v", test.name, got, test.want, err)
		}
	}
}

func TestAgentAllocates(t *testing.T) {
	// gdb's code for "n == 7" for a local variable of gcc -O0.
	code, _ := hex.DecodeString("260000221016080219162022071327")
	if n := testing.AllocsPerRun(100, func() { agent(code, binary.LittleEndian, agentMemory{}) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAgent(f *testing.F) {
	for _, code := range []string{"220727", "2201200007220527", "210000", "260000221016080219162022071327", "220122022203332727"} {
		b, _ := hex.DecodeString(code)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		value, err := agent(code, binary.LittleEndian, agentMemory{})
		if err != nil && (value != 0 || !errors.Is(err, errAgent)) {
			t.Errorf("%#x, %v", value, err)
		}
	})
}
