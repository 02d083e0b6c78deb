// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// All names of a recording's frames are bounded in total, even if each frame has one long name
// and they are named in several parts.
func TestLongNames(t *testing.T) {
	long, most := strings.Repeat("a", 1<<20), strings.Repeat("a", printable.MaxName)+"…"
	short := long[:printable.MaxShortName] + "…"
	for _, test := range []struct {
		frames int
		want   string // of the last frame
	}{{100, most}, {5000, short}} {
		shared := []object.Location{{Function: long, File: "f.c"}, {Function: "f", File: long}}
		frames := make([]stack.Frame, test.frames)
		for i := range frames {
			frames[i].Symbol.Name, frames[i].Locations = long, shared
		}
		frames[0] = stack.Frame{Code: stack.Code{Symbol: object.Symbol{Name: "main"}}}
		b := new(builder)
		b.shortenNames(frames[:50])
		b.shortenNames(frames[50:])
		last := frames[len(frames)-1]
		if frames[0].Symbol.Name != "main" || last.Symbol.Name != test.want ||
			last.Locations[0] != (object.Location{Function: test.want, File: "f.c"}) || last.Locations[1] != (object.Location{Function: "f", File: test.want}) {
			t.Errorf("%d frames: the last has names of %d, %d and %d bytes, want %d", test.frames, len(last.Symbol.Name), len(last.Locations[0].Function), len(last.Locations[1].File), len(test.want))
		}
		if shared[0].Function != long {
			t.Error("the list of locations that the frames share is changed")
		}
	}
}

// The frames of a function of generated code share the copy of its name.
func TestCopiedName(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{})
	first, other := b.copied("function"), b.copied("function")
	if first != "function" || unsafe.StringData(first) != unsafe.StringData(other) {
		t.Errorf("%q and %q", first, other)
	}
	if got := b.copied(strings.Repeat("a", 1<<20)); len(got) != printable.MaxName+len("…") {
		t.Errorf("a name of %d bytes", len(got))
	}
	if got := b.copied("next"); got != "next" {
		t.Errorf("%q", got)
	}
}
