// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"strings"
	"testing"

	"github.com/clewdev/clew/value"
)

// TestPresentBounds presents endless values. Printing ends nevertheless.
func TestPresentBounds(t *testing.T) {
	info := small(t)
	point, err := info.Type("struct point", 0)
	if err != nil {
		t.Fatal(err)
	}
	v := value.Constant(point, make([]byte, point.Size()), nil)
	endless := func(c Child) func(value.Value) (Presentation, bool) {
		return func(value.Value) (Presentation, bool) {
			return Presentation{Text: "it", Children: func(yield func(Child) bool) {
				for yield(c) {
				}
			}}, true
		}
	}
	for _, test := range []struct {
		name    string
		present func(value.Value) (Presentation, bool)
		want    string // a prefix
		end     string
	}{
		{"a value in its own place", func(v value.Value) (Presentation, bool) { return Presentation{Value: v}, true }, "{...}", ""},
		{"a value in itself", func(v value.Value) (Presentation, bool) {
			return Presentation{Text: "it", Children: func(yield func(Child) bool) { yield(Child{Value: v}) }}, true
		}, "it = {it = {it = {", "it = {...}}}}}}}}}}}}}}}}}}}}}"},
		{"elements without end", endless(Child{Value: value.Constant(value.Base(point.Machine(), "int"), make([]byte, 4), nil)}), "it = {0, 0, 0, ", ", 0...}"},
		{"skips without end", endless(Child{Skip: true}), "it = {...}", ""},
		{"none", func(value.Value) (Presentation, bool) { return Presentation{}, false }, "{x = 0, y = 0, color = RED, flags = 0, name = 0x0, next = 0x0, norm = 0x0}", ""},
	} {
		got := (&Printer{Present: test.present}).Text(v)
		if !strings.HasPrefix(got, test.want) || !strings.HasSuffix(got, test.end) || test.end == "" && got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	// A value without a place is not presented. A summary reports whether there are children.
	lost := value.Lost(point, nil)
	p := &Printer{Present: endless(Child{Value: v})}
	if got := p.Text(lost); got != "<optimized out>" {
		t.Error(got)
	}
	if got := p.summary(v); got != "it = {...}" {
		t.Error(got)
	}
}
