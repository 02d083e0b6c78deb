// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

type point struct{ x, y float64 }

// touch puts fingers on the page, moves each to where the same place of the next
// row says, and takes them off. A finger that has no place in a row is off.
func (b *browser) touch(rows ...[]point) {
	b.t.Helper()
	kind := "touchStart"
	fingers := 0
	for _, row := range append(rows, nil) {
		if len(row) > fingers {
			kind = "touchStart"
		} else if len(row) < fingers {
			kind = "touchEnd"
		}
		points := []map[string]any{}
		for i, p := range row {
			points = append(points, map[string]any{"x": p.x, "y": p.y, "id": i})
		}
		b.call("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": points}, nil)
		kind, fingers = "touchMove", len(row)
	}
	b.settle()
}

// between returns rows of places from one row to another.
func between(from, to []point, steps int) (rows [][]point) {
	for i := range steps + 1 {
		row := make([]point, len(from))
		at := float64(i) / float64(steps)
		for f := range from {
			row[f] = point{from[f].x + at*(to[f].x-from[f].x), from[f].y + at*(to[f].y-from[f].y)}
		}
		rows = append(rows, row)
	}
	return rows
}

// A phone, held upright in a hand that has two fingers for it.
func testTouch(t *testing.T, b *browser) {
	b.size(360, 740, true)
	b.prefer("light")
	b.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 2}, nil)
	defer func() {
		b.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": false}, nil)
		b.size(1200, 700, false)
	}()
	_, path := flame(t, hostileProfile())
	b.open(path)
	if got := b.text("#details"); got != "Tap a frame to zoom to it" {
		t.Errorf("the page says %q", got)
	}
	edge := func() float64 {
		b.t.Helper()
		return b.number("document.querySelector('#graph').getBoundingClientRect().top")
	}
	top := edge()
	row := func(depth int) float64 { return top + 28*float64(depth) + 14 } // a finger is wider than a pointer
	zoomed := func(what, want string) {
		b.t.Helper()
		if got := b.text("#zoomed"); got != want {
			b.t.Errorf("after %s: %q, want %q", what, got, want)
		}
	}
	start := b.picture("touch")

	b.touch([]point{{300, row(1)}})
	zoomed("a tap", "Zoomed to server (42), 39.3 %")
	if got := b.text("#details"); !strings.HasPrefix(got, "server (42)  ·  total 70 samples, 39.3 %") {
		t.Errorf("a tap shows %q", got)
	}
	if !b.yes("document.querySelector('#tip').hidden") {
		t.Error("a tap leaves a tooltip that no finger can dismiss")
	}
	if now := edge(); now != top {
		t.Errorf("a tap moves the frames below the finger by %v pixels", now-top)
	}

	// The seventy samples of the process are seen; their middle is held.
	near, far := []point{{150, row(1)}, {210, row(1)}}, []point{{30, row(1)}, {330, row(1)}}
	b.touch(between(near, far, 4)...)
	zoomed("two fingers that part", "Zoomed to 7.9 %") // a fifth
	b.picture("touch-pinched")
	for range 3 {
		b.touch(between([]point{{330, row(4)}}, []point{{30, row(4)}}, 4)...)
	}
	zoomed("a drag", "Zoomed to 7.9 %")
	b.touch([]point{{100, row(4)}})
	zoomed("a tap on what was dragged there", "Zoomed to [unknown], 11.2 %")
	for range 2 {
		b.touch(between(far, near, 4)...)
	}
	zoomed("fingers that meet", "")
	if scale := b.number("visualViewport.scale"); scale != 1 {
		t.Errorf("two fingers zoom the page, to %v", scale)
	}
	b.touch([]point{{20, row(2)}})
	zoomed("a tap", "Zoomed to "+printable.Text(hostile)+", 56.2 %")
	b.tap("#whole")
	zoomed("a tap on the button", "")

	// What is written below the frames does not move them either.
	b.tap("#flame")
	bottom := func() float64 { return b.number("document.querySelector('#graph').getBoundingClientRect().bottom") }
	before := bottom()
	b.touch([]point{{20, before - 28 - 14}})
	zoomed("a tap in a flame", "Zoomed to "+printable.Text(hostile)+", 56.2 %")
	if now := bottom(); now != before {
		t.Errorf("a tap in a flame moves the frames below the finger by %v pixels", now-before)
	}
	b.tap("#whole")

	b.tap("#functions")
	b.tap("#rows tr:nth-child(2) td:nth-child(2)")
	if got := b.text("#chosen"); got != "do_syscall_64" {
		t.Errorf("a tap on a row chooses %q", got)
	}
	b.picture("touch-functions")
	b.tap("#icicle")
	b.tap("#theme")
	dark := b.picture("touch-dark")
	if light, dark := start.Pix[0], dark.Pix[0]; light < 200 || dark > 60 {
		t.Errorf("the page is %d when light, %d when dark", light, dark)
	}

	b.size(740, 360, true)
	b.picture("touch-lying")
	if height := b.number("document.querySelector('#graph').clientHeight"); height < 180 {
		t.Errorf("on a phone that lies the graph has %v pixels of 360", height)
	}
}

// tap touches the middle of an element.
func (b *browser) tap(selector string) {
	b.t.Helper()
	var p struct{ X, Y float64 }
	b.eval(fmt.Sprintf("(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(document.querySelector(%q).getBoundingClientRect())", selector), &p)
	b.touch([]point{{p.X, p.Y}})
}

// A profile without samples has a page that says so.
func testNothing(t *testing.T, b *browser) {
	_, path := flame(t, profile.New("samples"))
	b.open(path)
	b.press("f", "i", "+", "-", "Home", "Enter", "Escape")
	if got := b.text("#details"); got != "There are no stacks to show" {
		t.Errorf("the page says %q", got)
	}
}
