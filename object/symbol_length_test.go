// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
)

// Long names of symbols are cut, so that total overlapping names do not each cost the memory
// and time of the string table.
func TestLongSymbolNames(t *testing.T) {
	longest := strings.Repeat("a", printable.MaxName)
	table := symbolTable{names: []byte("\x00short\x00" + longest + "\x00b" + longest + "\x00")}
	for offset, want := range map[int]string{
		0: "", 1: "short", 3: "ort", 7: longest, 8: longest[1:], 8 + len(longest): "b" + longest[1:] + "…",
		9 + len(longest): longest, len(table.names): "", 1 << 30: "",
	} {
		if got := table.symbol(&rawSymbol{name: uint32(offset)}).Name; got != want {
			t.Errorf("at %d: a name of %d bytes, want %d", offset, len(got), len(want))
		}
	}
	total := 0
	table.names = []byte(strings.Repeat("c", 1<<20) + "\x00")
	for offset := range uint32(1000) {
		total += len(table.symbol(&rawSymbol{name: offset}).Name)
	}
	if most := 1000 * (printable.MaxName + len("…")); total > most {
		t.Errorf("1,000 names take %d bytes, want at most %d", total, most)
	}
}
