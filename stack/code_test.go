// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/generated"
)

// namedCode is generated code of one function.
type namedCode string

func (c namedCode) Function(uint64) (object.Symbol, bool) {
	return object.Symbol{Name: string(c)}, true
}
func (c namedCode) Locate(uint64) ([]object.Location, error) { return nil, nil }

// All names of frames are bounded in total, even if each frame has one long name.
func TestLongNames(t *testing.T) {
	for _, test := range []struct {
		name   string
		frames int
		want   string
	}{
		{"short", 100_000, "short"},
		{strings.Repeat("a", printable.MaxShortName), 200_000, strings.Repeat("a", printable.MaxShortName)},
		{strings.Repeat("b", printable.MaxName), 10, strings.Repeat("b", printable.MaxName)},
		{strings.Repeat("c", printable.MaxName+1), 10, strings.Repeat("c", printable.MaxName) + "…"},
		{strings.Repeat("d", 1<<20), 10_000, strings.Repeat("d", printable.MaxShortName) + "…"},
		{strings.Repeat("ü", 1<<20) + "x", 10_000, strings.Repeat("ü", printable.MaxShortName/2) + "…"},
		{"x" + strings.Repeat("ü", 1<<20), 10_000, "x" + strings.Repeat("ü", printable.MaxShortName/2-1) + "…"},
		{strings.Repeat("\xbc", 1<<20), 10_000, strings.Repeat("\xbc", printable.MaxShortName-4) + "…"},
	} {
		code := &Object{Name: GeneratedName, Generated: generated.DynInfoList, code: namedCode(test.name)}
		frames := make([]Frame, test.frames/2)
		for i := range frames {
			frames[i].Object, frames[i].Address = code, 0x1800
		}
		stacks := []Stack{{Frames: frames}, {Frames: append([]Frame{{}}, frames...)}}
		objects := NewObjects(&snapshot.Snapshot{})
		if err := objects.Name(stacks, NameOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range stacks {
			if got := stacks[i].Frames[len(stacks[i].Frames)-1].Symbol.Name; got != test.want {
				t.Errorf("%d frames of a name of %d bytes are called %.300q (%d bytes), want %d bytes", test.frames, len(test.name), got, len(got), len(test.want))
			}
		}
		objects.Close()
	}
}

// Functions and paths of the source are cut like symbols. The file's own list of locations
// does not change.
func TestLongLocations(t *testing.T) {
	long := strings.Repeat("f", printable.MaxShortName+1)
	kept := []object.Location{{Function: "short", File: long}, {Function: long, File: "f.c"}}
	c := Code{Locations: kept}
	var limit NameLimit
	if limit.Count(&c); limit.bytes != 2*len(long)+len("short")+len("f.c") {
		t.Errorf("names of %d bytes", limit.bytes)
	}
	limit.bytes = printable.MaxAllNames + 1
	limit.Shorten(&c)
	cut := long[:printable.MaxShortName] + "…"
	if l := c.Locations; l[0].File != cut || l[0].Function != "short" || l[1].Function != cut || l[1].File != "f.c" {
		t.Errorf("%+v", l)
	}
	if kept[0].File != long || kept[1].Function != long {
		t.Errorf("%+v is changed", kept)
	}
}
