// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

// recordedFunction is a function, or an inlined call of one.
type recordedFunction struct {
	name, object string

	self, total uint64
	lastStack   int // index of the last stack that was added to total
}

// numberFunctions fills p.functions, p.places and p.starts.
func (p *recordedPrinter) numberFunctions() {
	type key struct{ name, object string }
	known := make(map[key]int32)
	places := p.Places()
	p.starts = make([]int, 1, len(places)+1)
	var calls []profile.Frame
	for i := range places {
		calls = appendRecorded(calls[:0], &places[i])
		for j := range calls {
			k := key{shownName(&calls[j]), shownObject(&calls[j])}
			n, ok := known[k]
			if !ok {
				n = int32(len(p.functions))
				known[k] = n
				p.functions = append(p.functions, recordedFunction{name: k.name, object: k.object, lastStack: -1})
			}
			p.places = append(p.places, n)
		}
		p.starts = append(p.starts, len(p.places))
	}
}

// top writes the functions with the largest shares.
func (p *recordedPrinter) top(all uint64) {
	if p.Functions == 0 {
		return
	}
	order := make([]int32, 0, len(p.functions))
	for i := range p.functions {
		if p.functions[i].total > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &p.functions[a], &p.functions[b]
		return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(y.total, x.total), cmp.Compare(x.name, y.name), cmp.Compare(x.object, y.object))
	})
	p.out = fmt.Appendf(p.out, "\n%s\n", p.Palette.Header.Text("   self   total  function"))
	for i, n := range order {
		if i == p.Functions {
			more := fmt.Sprintf("                 and %s more", plural(uint64(len(order)-i), "function"))
			p.out = fmt.Appendf(p.out, "%s\n", p.Palette.Dim.Text(more))
			break
		}
		f := &p.functions[n]
		p.out = fmt.Appendf(p.out, "%6.1f%% %6.1f%%  ", share(f.self, all), share(f.total, all))
		p.function(f)
		p.out = append(p.out, '\n')
	}
}

func share(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

func (p *recordedPrinter) function(f *recordedFunction) {
	p.out = p.Palette.Name.Append(p.out, printable.Text(f.name))
	if f.object != "" {
		p.out = p.Palette.Dim.Append(p.out, " in "+printable.Text(f.object))
	}
}
