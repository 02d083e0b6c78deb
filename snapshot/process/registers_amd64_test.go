// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A program that sets its registers and waits: each value has its DWARF column.
func TestRegisters(t *testing.T) {
	tests := []struct {
		machine string
		flags   []string
		columns map[uint64]uint64
	}{
		{"x86-64", nil, map[uint64]uint64{
			1: 0, 3: 0x6262626262, 4: 0, 5: 0, 6: 0x6262626206,
			8: 0x6262626208, 9: 0x6262626209, 10: 0, 12: 0x6262626212,
			13: 0x6262626213, 14: 0x6262626214, 15: 0x6262626215,
			51: 0x33, 52: 0x2b, // cs and ss of 64-bit code
		}},
		{"i386", []string{"-m32"}, map[uint64]uint64{
			1: 0, 2: 0x33333333, 3: 0, 5: 0x55555555, 6: 0x11111111, 7: 0x66666666,
			41: 0x23, 42: 0x2b,
		}},
	}
	for _, test := range tests {
		t.Run(test.machine, func(t *testing.T) {
			program := build(t, "registers.S", append(test.flags, "-nostdlib", "-static")...)
			cmd := exec.Command(program)
			if err := cmd.Start(); err != nil {
				t.Skip("skipped: the kernel does not run " + test.machine + " programs")
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			eventually(t, "the program waits", func() bool {
				return threadState(cmd.Process.Pid, cmd.Process.Pid) == 'S'
			})
			s, err := Snapshot(cmd.Process.Pid, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s.Machine.Name != test.machine {
				t.Errorf("machine %s", s.Machine.Name)
			}
			th := &s.Threads[0]
			checkThread(t, s, th)
			for column, want := range test.columns {
				if got, ok := th.Registers.Get(column); !ok || got != want {
					t.Errorf("column %d: %#x, %t, expected %#x", column, got, ok, want)
				}
			}
			// The code after the system call is a jump to itself.
			code := make([]byte, 2)
			if err := s.Memory.ReadMemory(code, th.Registers.PC); err != nil || !bytes.Equal(code, []byte{0xeb, 0xfe}) {
				t.Errorf("at the program counter %#x: % x, %v", th.Registers.PC, code, err)
			}
			if pc, _ := th.Registers.Get(uint64(s.Machine.ReturnAddress)); pc != th.Registers.PC {
				t.Errorf("return-address column %#x, program counter %#x", pc, th.Registers.PC)
			}
			sp, _ := th.Registers.Get(uint64(s.Machine.StackPointer))
			if got := th.Stack[sp-th.StackAddress]; got != 0x77 {
				t.Errorf("at the stack pointer: %#x, expected 0x77", got)
			}
		})
	}
}

// Run stops a program at its first instruction.
func TestRunFirstInstruction(t *testing.T) {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		t.Fatal(err)
	}
	program := build(t, "registers.S", "-nostdlib", "-static", "-DFAULT")
	for range 20 {
		status, stderr := startRun(t, program).end()
		if status != 132 || !bytes.HasPrefix([]byte(stderr), []byte("SIGILL crash=true")) {
			t.Fatalf("status %d, stderr %q", status, stderr)
		}
	}
}
