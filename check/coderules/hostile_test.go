// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clewdev/clew/object"
)

// codeFile returns a file that is all code, at address 0x400000, with headers for its machine.
func codeFile(tb testing.TB, m elf.Machine, code []byte) (f *object.File, start uint64) {
	tb.Helper()
	const address, headers = 0x400000, 64 + 56
	image := make([]byte, headers, headers+len(code))
	copy(image, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(image[16:], uint16(elf.ET_EXEC))
	le.PutUint16(image[18:], uint16(m))
	le.PutUint32(image[20:], 1)
	le.PutUint64(image[32:], 64)
	le.PutUint16(image[52:], 64)
	le.PutUint16(image[54:], 56)
	le.PutUint16(image[56:], 1)
	p := image[64:]
	le.PutUint32(p, uint32(elf.PT_LOAD))
	le.PutUint32(p[4:], uint32(elf.PF_R|elf.PF_X))
	le.PutUint64(p[16:], address)
	le.PutUint64(p[32:], uint64(headers+len(code)))
	le.PutUint64(p[40:], uint64(headers+len(code)))
	image = append(image, code...)
	f, err := object.NewFile(image, "code")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f, address + headers
}

// The work for functions without end, and for many of them, is bounded, and too large ones get no
// rules.
func TestHostileCode(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	code := make([]byte, 1<<20)
	fill := map[string]func(i int) byte{
		"random":   func(int) byte { return byte(random.Uint32()) },
		"pushes":   func(i int) byte { return byte(0x50 + i%8) },
		"branches": func(i int) byte { return [...]byte{0x53, 0x75, byte(random.Uint32()), 0x5b}[i%4] },
		"aligns":   func(i int) byte { return [...]byte{0x48, 0x83, 0xe4, 0xf0, 0x75, byte(random.Uint32())}[i%6] },
		"far": func(i int) byte {
			return [...]byte{0x0f, 0x84, byte(random.Uint32()), byte(random.Uint32()) & 0x7f, 0, 0, 0x50}[i%7]
		},
	}
	for name, next := range fill {
		t.Run(name, func(t *testing.T) {
			for i := range code {
				code[i] = next(i)
			}
			f, start := codeFile(t, elf.EM_X86_64, code)
			var a Analyzer
			begin, slowest := time.Now(), time.Duration(0)
			for n := range uint64(4096) { // functions that overlap
				now := time.Now()
				a.Rules(f, object.AddressRange{Low: start + n, High: start + n + maxFunction}, start+n+100)
				slowest = max(slowest, time.Since(now))
			}
			t.Logf("%v for all, %v for one, %d steps", time.Since(begin), slowest, a.steps)
			if a.steps > maxSteps+16*maxFunction {
				t.Errorf("%d steps", a.steps)
			}
			if r := a.Rules(f, object.AddressRange{Low: start, High: start + maxFunction + 1}, start); r != nil {
				t.Errorf("a function of %d bytes has rules %+v", maxFunction+1, r)
			}
		})
	}
}

// A file that is closed does not count any more.
func TestForget(t *testing.T) {
	f, start := codeFile(t, elf.EM_X86_64, make([]byte, 64))
	var a Analyzer
	for n := range uint64(4) {
		a.Rules(f, object.AddressRange{Low: start + n, High: start + 32}, start+n)
	}
	if a.functions != 4 {
		t.Fatalf("%d functions", a.functions)
	}
	for range 2 {
		if a.Forget(f); a.functions != 0 || len(a.files) != 0 {
			t.Errorf("%d functions of %d files after Forget", a.functions, len(a.files))
		}
	}
}

// Without work to spare a function has no rules, and after a while it has.
func TestRefill(t *testing.T) {
	f, start := codeFile(t, elf.EM_X86_64, []byte{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3})
	for _, test := range []struct {
		ago   time.Duration
		rules bool
	}{{0, false}, {refill / 2, true}, {2 * refill, true}} {
		a := Analyzer{steps: maxSteps + maxSteps/100, counted: time.Now().Add(-test.ago)}
		if r := a.Rules(f, object.AddressRange{Low: start, High: start + 6}, start+1); (r != nil) != test.rules {
			t.Errorf("after %v: %v", test.ago, r)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add([]byte{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}, uint16(4), false)
	f.Add([]byte{0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x00, 0x00, 0x94, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6}, uint16(8), true)
	f.Fuzz(func(t *testing.T, code []byte, offset uint16, arm64 bool) {
		m := elf.EM_X86_64
		if arm64 {
			m = elf.EM_AARCH64
		}
		file, start := codeFile(t, m, code)
		var a Analyzer
		function := object.AddressRange{Low: start, High: start + uint64(len(code))}
		pc := start + uint64(offset)
		if r := a.Rules(file, function, pc); r != nil && !function.Contains(pc) {
			t.Errorf("rules outside of the function: %+v", r)
		}
		// The function's end can be anywhere.
		function.High += uint64(offset)
		a.Rules(file, function, pc)
	})
}
