// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"encoding/binary"
	"encoding/hex"
	"runtime"
)

// function is the code of a function that tests call.
type function struct {
	text []byte
	at   []uint64 // where its instructions start
}

// functions by name, with the code of each machine.
var functions = map[string]map[string]function{
	"add": {
		"amd64": instructions("488d0437", "c3"), // lea rax, [rdi+rsi]; ret
		"arm64": words(0x8b010000, ret64),       // add x0, x0, x1; ret
	},
	// The sum of the numbers from 1 to the argument. Instructions 1 to 3 are the loop: add to the
	// sum, subtract 1, branch.
	"sum": {
		"amd64": instructions("31c0", "01f8", "ffcf", "75fa", "c3"),
		"arm64": words(0x2a1f03e1, 0x0b000021, 0x71000400, 0x54ffffc1, 0x2a0103e0, ret64),
	},
	"load": {
		"amd64": instructions("488b07", "c3"), // mov rax, [rdi]; ret
		"arm64": words(0xf9400000, ret64),     // ldr x0, [x0]; ret
	},
	// Stores its second argument at the address in the first.
	"store": {
		"amd64": instructions("488937", "90", "c3"),   // mov [rdi], rsi; nop; ret
		"arm64": words(0xf9000001, 0xd503201f, ret64), // str x1, [x0]; nop; ret
	},
	// Calls its second argument with the first, and adds 1.
	"caller": {
		"amd64": instructions("53", "4889f0", "ffd0", "48ffc0", "5b", "c3"),
		"arm64": words(0xa9bf7bfd, 0xd63f0020, 0x91000400, 0xa8c17bfd, ret64),
	},
	"loop": {
		"amd64": instructions("ebfe"),
		"arm64": words(0x14000000),
	},
	"nop loop": {
		"amd64": instructions("90", "ebfd"),
		"arm64": words(0xd503201f, 0x17ffffff),
	},
	"exit": {
		"amd64": instructions("b8e7000000", "0f05"), // exit_group
		"arm64": words(0xd2800bc8, 0xd4000001),
	},
	// Makes the system call with its first argument's number and the other three.
	"syscall": {
		"amd64": instructions("4889f8", "4889f7", "4889d6", "4889ca", "0f05", "c3"),
		"arm64": words(0xaa0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, 0xd4000001, ret64),
	},
	"illegal": {
		"amd64": instructions("0f0b"), // ud2
		"arm64": words(0),
	},
	"trap": {
		"amd64": instructions("cc", "c3"),
		"arm64": words(0xd4200020, ret64), // brk 1
	},
	// Divides its arguments.
	"divide": {
		"amd64": instructions("4889f8", "4899", "48f7fe", "c3"),
		"arm64": words(0x9ac10c00, ret64), // x / 0 is 0
	},
	"recurse": {
		"amd64": instructions("e8fbffffff"),
		"arm64": words(0xa9bf7bfd, 0x97ffffff),
	},
	"ret": {
		"amd64": instructions("c3"),
		"arm64": words(ret64),
	},
}

const ret64 = 0xd65f03c0

// words are arm64 instructions.
func words(list ...uint32) function {
	var f function
	for n, w := range list {
		f.text = binary.LittleEndian.AppendUint32(f.text, w)
		f.at = append(f.at, uint64(n)*4)
	}
	return f
}

// instructions are given in hexadecimal.
func instructions(list ...string) function {
	var f function
	for _, text := range list {
		f.at = append(f.at, uint64(len(f.text)))
		f.text, _ = hex.AppendDecode(f.text, []byte(text))
	}
	return f
}

// functionOf returns a function for this machine.
func functionOf(name string) function { return functions[name][runtime.GOARCH] }

// argument is the register of a call's first argument.
var argument = map[string]string{"amd64": "rdi", "arm64": "x0"}[runtime.GOARCH]
