// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/clewdev/clew/unwind/internal/codeframe"
)

func code(tb testing.TB, digits string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var findTests = []struct {
	name, code string
	pc         int
	called     bool
	want       codeframe.Frame
	ok         bool
}{
	{"at the entry", "f30f1efa 53", 4, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"after a push", "53 90", 1, false, codeframe.Frame{CFA: 7, Offset: 16, Saved: []codeframe.Slot{{Column: 3, Offset: -16}}}, true},
	{"after its epilogue", "53 4883ec08 4883c408 5b c3", 10, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"waiting for a call", "4883ec18 e800000100 90", 9, true, codeframe.Frame{CFA: 7, Offset: 32}, true},
	{"a call of the next instruction pushes", "e800000000 58 90", 5, false, codeframe.Frame{CFA: 7, Offset: 16}, true},
	{"not after anything but a call", "4883ec18 9090 90", 5, true, codeframe.Frame{}, false},
	{"by a branch around a block that moves it", "7405 4883ec08 c3 90", 7, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"where two paths disagree", "7404 4883ec08 90", 6, false, codeframe.Frame{}, false},
	{"after a call that does not return", "7409 4883ec08 e800000100 90", 11, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"a register saved on one path", "7401 90 53 5b 7401 90 90", 8, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"alloca", "4829c4 90", 3, false, codeframe.Frame{}, false},
	{"alloca with a frame pointer", "55 4889e5 4829c4 90", 7, false, codeframe.Frame{CFA: 6, Offset: 16, Saved: []codeframe.Slot{{Column: 6, Offset: -16}}}, true},
	{"aligned by lea of the frame pointer", "55 4889e5 4883e4e0 488d65f0 90", 12, false,
		codeframe.Frame{CFA: 6, Offset: 16, Saved: []codeframe.Slot{{Column: 6, Offset: -16}}}, true},
	{"leave", "55 4889e5 4883ec20 c9 90", 9, false, codeframe.Frame{CFA: 7, Offset: 8}, true},
	{"saved by a move", "4883ec18 48895c2410 90", 9, false, codeframe.Frame{CFA: 7, Offset: 32, Saved: []codeframe.Slot{{Column: 3, Offset: -16}}}, true},
	{"overwritten and saved nowhere", "31db 90", 2, false, codeframe.Frame{CFA: 7, Offset: 8, Saved: []codeframe.Slot{{Column: 3, Lost: true}}}, true},
	{"by a loop", "53 ffc8 75fc 90", 5, false, codeframe.Frame{CFA: 7, Offset: 16, Saved: []codeframe.Slot{{Column: 3, Offset: -16}}}, true},
	{"after a jump through a table", "ffe0 90", 2, false, codeframe.Frame{}, false},
	{"after code that is not understood", "c5f877 90", 3, false, codeframe.Frame{}, false},
	{"beyond the code", "90", 7, false, codeframe.Frame{}, false},
}

func TestFind(t *testing.T) {
	for _, test := range findTests {
		got, _, ok := codeframe.Find(code(t, test.code), test.pc, test.called)
		if ok != test.ok || ok && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %t, want %+v, %t", test.name, got, ok, test.want, test.ok)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, test := range findTests {
		f.Add(code(f, test.code), test.pc, test.called)
	}
	f.Fuzz(func(t *testing.T, code []byte, pc int, called bool) {
		frame, decoded, ok := codeframe.Find(code, pc, called)
		if decoded > 1<<14+1 || ok && frame.CFA != 6 && frame.CFA != 7 {
			t.Errorf("%+v after %d instructions", frame, decoded)
		}
		codeframe.Jump(code, uint64(pc))
		codeframe.Restored(code, pc)
	})
}
