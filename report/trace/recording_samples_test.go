// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// framesAt returns the frames of places in code.
func framesAt(places ...stack.Code) (list []*stack.Frame) {
	for _, c := range places {
		list = append(list, &stack.Frame{Code: c})
	}
	return list
}

// Names in the text of a sample are escaped, because it can go to a terminal.
func TestSamplesAreEscaped(t *testing.T) {
	const evil = "a\x1b[2J\x9b\u202e\nb\r"
	list := framesAt(
		stack.Code{Object: &stack.Object{Name: evil}, Symbol: object.Symbol{Name: evil}, Locations: []object.Location{
			{Function: evil, File: evil, Line: 1, Inlined: true}, {Function: evil, File: evil, Line: 2},
		}},
		stack.Code{Object: &stack.Object{Name: evil}, Symbol: object.Symbol{Name: "_Z1" + evil}},
		stack.Code{Object: &stack.Object{Name: evil, Go: true}, Symbol: object.Symbol{Name: evil}},
		stack.Code{},
		stack.Code{Object: &stack.Object{System: stack.Guest}},
	)
	var r trace.Samples
	for end := unwind.EndOfStack; end <= unwind.CallersMissing; end++ {
		text := string(r.Append(nil, &recording.Sample{
			HasCPU: true, Event: &recording.Event{Name: evil}, Thread: &recording.Thread{Name: evil}, Reason: end,
			Frames: slices.All(list),
		}))
		if i := strings.IndexFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && !printable.Is(c) }); i >= 0 {
			t.Errorf("%q", text[i:])
		}
		if n := strings.Count(text, "\nb"); n > 0 {
			t.Errorf("%d names begin new lines in %q", n, text)
		}
	}
}

// The name of a function of generated code is printed completely: the "@" in it can belong to
// a path. It starts a version only in symbols of linkers.
func TestNamesOfRecordedFunctions(t *testing.T) {
	const path, versioned = "JS:*f /src/@types/f.js:1:2", "f@@LIB_1.0"
	var r trace.Samples
	text := string(r.Append(nil, &recording.Sample{
		Event: new(recording.Event), Thread: new(recording.Thread),
		Frames: slices.All(framesAt(
			stack.Code{Object: &stack.Object{Name: stack.GeneratedName, Generated: generated.Jitdump}, Symbol: object.Symbol{Name: path}},
			stack.Code{Object: &stack.Object{Name: "/lib/libf.so"}, Symbol: object.Symbol{Name: versioned}},
		)),
	}))
	for _, want := range []string{" " + path + "+0x0 ([jit])\n", " f+0x0 (/lib/libf.so)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}
