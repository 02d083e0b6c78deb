// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
)

// roleVariable is the environment variable with the role of a process that a test starts from the
// test's own program, and its folder.
const roleVariable = "CLEW_TEST_ROLE"

var roles = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	role, known := roles[os.Getenv(roleVariable)]
	if !known {
		os.Exit(m.Run())
	}
	if err := role(os.Args[1]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// asRole returns a command that runs the test program in a role.
func asRole(role, dir string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(append(os.Environ(), roleVariable+"="+role), env...)
	return cmd
}

// program returns the unwind table of a function of this machine with a frame of
// 32 bytes after its first four.
func program() *cfi.Program {
	p, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).At(4).AdjustCFAOffset(32).Program()
	if err != nil {
		panic(err)
	}
	return p
}

// batch returns n functions of 16 bytes at the given distance, with all properties of a
// function.
func batch(address uint64, n, apart int) *jit.Code {
	c := &jit.Code{Address: address, Text: make([]byte, n*(16+apart))}
	p := program()
	for i := range n {
		offset := uint64(i * (16 + apart))
		binary.NativeEndian.PutUint64(c.Text[offset:], uint64(i))
		c.Functions = append(c.Functions, jit.Function{
			Name: fmt.Sprintf("function %d", i), Offset: offset, Size: 16, Unwind: p,
			Lines: []jit.Line{{Offset: 0, File: "/src/a", Line: i + 1, Column: 2}, {Offset: 4}, {Offset: 8, File: "/src/b", Line: 7}},
		})
	}
	return c
}
