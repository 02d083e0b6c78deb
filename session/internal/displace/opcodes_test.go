// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

const opcodeStride = 16

// opcodes returns instructions with every opcode of every map and every prefix that changes the
// operands, each in opcodeStride bytes that end with nops.
func opcodes() []byte {
	var heads []string
	for op := range 256 {
		o := string([]byte{byte(op)})
		for _, p := range []string{"", "\x66", "\xf2", "\xf3", "\x48", "\x66\x48", "\x66\x4f", "\x67"} {
			heads = append(heads, p+o, p+"\x0f"+o, p+"\x0f\x38"+o, p+"\x0f\x3a"+o)
		}
		for pp := range 4 {
			low, high := string([]byte{0xf8 | byte(pp)}), string([]byte{0xfc | byte(pp)})
			heads = append(heads, "\xc5"+low+o, "\xc5"+high+o)
			for _, vex := range []string{"\xe1", "\xe2", "\xe3", "\xc2", "\x83"} {
				for _, second := range []string{low, high, string([]byte{0x80 | byte(pp)})} {
					heads = append(heads, "\xc4"+vex+second+o)
				}
			}
			for _, evex := range []string{"\xf1", "\xf2", "\xf3", "\xf5", "\xf6", "\x91"} {
				for _, third := range []string{"\x48", "\x19"} {
					w0, w1 := string([]byte{0x7c | byte(pp)}), string([]byte{0xfc | byte(pp)})
					heads = append(heads, "\x62"+evex+w0+third+o, "\x62"+evex+w1+third+o)
				}
			}
		}
		for _, xop := range []string{"\xe8", "\xe9", "\xea"} {
			heads = append(heads, "\x8f"+xop+"\x78"+o, "\x8f"+xop+"\xf8"+o)
		}
	}
	operands := []string{
		"\xc1", "\x05\x11\x22\x33\x44", "\x04\x25\x11\x22\x33\x44", "\x44\x24\x11",
		"\x8c\xc8\x11\x22\x33\x44", "\x0d\x11\x22\x33\x44", "\x38", "\xf8",
	}
	var out strings.Builder
	for i, head := range heads {
		for j := range operands {
			if j == 1 || (i+j)%4 == 0 {
				text := head + operands[j]
				out.WriteString(text + strings.Repeat("\x90", opcodeStride-len(text)))
			}
		}
	}
	return []byte(out.String())
}

// For all bytes that objdump decodes as an instruction, the size is the same.
func TestOpcodesAgreeWithObjdump(t *testing.T) {
	objdump := testprogram.RequireTool(t, "x86_64-linux-gnu-objdump") // what Debian's native one is called too
	path := filepath.Join(t.TempDir(), "opcodes")
	if err := os.WriteFile(path, opcodes(), 0o600); err != nil {
		t.Fatal(err)
	}
	count, differ := 0, 0
	disassemble(t, objdump, path, func(l line) {
		if l.address%opcodeStride != 0 || strings.Contains(l.text, "(bad)") {
			return
		}
		count++
		if err := agreesX86(l); err != nil && differ < 40 {
			differ++
			t.Errorf("% x %s: %v", l.code, l.text, err)
		}
	}, "-D", "-b", "binary", "-m", "i386:x86-64")
	t.Logf("%d instructions", count)
	if count < 10000 {
		t.Errorf("objdump printed %d instructions", count)
	}
}
