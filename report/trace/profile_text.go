// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

// Profile is a profile that was read from a file.
type Profile struct {
	*profile.Profile
	Path string
}

// Text writes a heading, the hottest functions and the heaviest stacks, as Recording.Text does.
func (p *Profile) Text(w io.Writer, opts RecordingOptions) error {
	r := recordedPrinter{RecordingOptions: opts}
	groups := make(map[string]*recordedGroup)
	numbers := make(map[profile.Location][]int32)
	all := uint64(p.Total())
	i := 0
	var functions []int32
	for s := range p.Samples() {
		functions = functions[:0]
		for l := range s.Locations {
			list, ok := numbers[l]
			if !ok {
				_, frames := p.At(l)
				for f := range frames {
					list = append(list, r.number(f))
				}
				numbers[l] = list
			}
			functions = append(functions, list...)
		}
		g := r.count(groups, functions, i, uint64(s.Weight))
		g.samples += uint64(s.Weight)
		i++
	}
	r.unit = printable.Text(p.Unit())
	r.out = fmt.Appendf(r.out, "%s\n%d %s", printable.Text(p.Path), all, r.unit)
	if p.Duration > 0 {
		r.out = fmt.Appendf(r.out, " in %v", rounded(p.Duration))
	}
	r.out = append(r.out, '\n')
	if all > 0 {
		r.top(all)
		r.stacks(groups, all)
	}
	_, err := w.Write(appendNotes(r.out, p.Notes))
	return err
}
