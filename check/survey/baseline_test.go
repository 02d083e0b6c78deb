// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/check"
)

func result(key string, findings ...check.Finding) *Result {
	return &Result{Part: &Part{Name: "some/dir/" + key, Key: key}, Report: &check.Report{Findings: findings}}
}

func wrongAt(name string, start, offset uint64) check.Finding {
	return check.Finding{Kind: check.WrongCFA, Function: start, Name: name, Address: start + offset, Expected: "CFA = rsp+16", Found: "CFA = rsp+8"}
}

// A baseline that is written and read again holds the same findings, also after the code moved.
func TestBaseline(t *testing.T) {
	overlap := check.Finding{Kind: check.Overlap, Function: 0x20, Address: 0x20, Found: "the FDE at offset 0x18 for [0x20, 0x30) overlaps"}
	var b Baseline
	b.AddResult(result("a.so", wrongAt("f", 0x10, 4), wrongAt("f", 0x40, 4), wrongAt("", 0x80, 4), wrongAt("\xff\xfe", 0x90, 1), overlap))
	b.AddResult(result("gone.so", wrongAt("f", 0x10, 4)))
	var text strings.Builder
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"", `{"functions":2,"findings":5}` + "\n", "\n"} {
		read, err := ReadBaseline(strings.NewReader(text.String() + other))
		if err != nil {
			t.Fatal(err)
		}
		moved := overlap
		moved.Address, moved.Found = 0x1020, "the FDE at offset 0x48 for [0x1020, 0x1030) overlaps"
		rest, known := read.remove(result("a.so",
			wrongAt("f", 0x1010, 4),       // known
			wrongAt("f", 0x1010, 5),       // at another instruction
			wrongAt("f", 0x1040, 4),       // known
			wrongAt("f", 0x1050, 4),       // a third function of the name
			wrongAt("", 0x1080, 4),        // a name is needed
			wrongAt("\xff\xfe", 0x190, 1), // known
			moved,
		))
		var addresses []uint64
		for i := range rest {
			addresses = append(addresses, rest[i].Address)
		}
		if !slices.Equal(addresses, []uint64{0x1015, 0x1054, 0x1084}) || len(known) != 4 {
			t.Errorf("new findings at %#x, %d known", addresses, len(known))
		}
		if fixed := read.Fixed(); len(fixed) != 1 || fixed[0].String() != "a.so: 0x80+0x4: wrong CFA: CFA = rsp+8" {
			t.Errorf("not found any more: %v", fixed)
		}
	}
}

func TestBaselineErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{\"kind\":\"wrong CFA\"}\nx":  "line 2 is not a finding in JSON",
		`[]`:                           "line 1 is not a finding in JSON",
		`{"kind":3}`:                   "line 1 is not a finding in JSON",
		strings.Repeat("x", maxLine+1): "a line has more than",

		strings.Repeat("{\"kind\":\"x\"}\n", maxKnown+1):                         "line 1048577: more than 1048576 findings",
		strings.Repeat("{\"kind\":\""+strings.Repeat("x", maxText/5)+"\"}\n", 6): "line 6: the names and rules of the findings have more than",
	} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %s", text, err, want)
		}
	}
}

// The line of an entry has a bounded length, whatever the file holds.
func TestKnownLine(t *testing.T) {
	for _, expected := range []string{"", "x"} {
		k := Known{File: "a\nb", Symbol: "f\n\x1b[2J", Kind: "x\ny", Expected: expected, Found: strings.Repeat("A", 1<<20) + "\n"}
		if s := k.Line(); strings.ContainsAny(s, "\n\x1b") || len(s) > 20<<10 {
			t.Errorf("%d bytes: %.100q", len(s), s)
		}
	}
}

func FuzzBaseline(f *testing.F) {
	f.Add(`{"file":"a/b.so","symbol":"f","offset":1,"kind":"wrong CFA","expected":"CFA = rsp+16","found":"CFA = rsp+8"}`)
	f.Add(`{"file":"","function_start":"0xffffffffffffffff","offset":1,"kind":"x","found":"0x12"}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ReadBaseline(strings.NewReader(text))
		if err != nil {
			return
		}
		var first, second strings.Builder
		if err := b.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ReadBaseline(strings.NewReader(first.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Write(&second); err != nil || first.String() != second.String() {
			t.Errorf("%q, then %q, %v", &first, &second, err)
		}
	})
}
