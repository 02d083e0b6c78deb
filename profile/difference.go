// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"cmp"
	"io"
	"math"
	"path"
	"slices"
)

// Difference compares two profiles. The weights of the earlier one are scaled, so that both have
// the same total. Functions are the same if their names and the base names of their objects are
// equal, because the profiles may be of two builds in different places. Objects do not count
// if one profile has none, as folded stacks. Threads and processes do not count.
type Difference struct {
	Before, After *Profile

	scale   float64 // of the weights of Before
	objects bool    // whether objects count
}

// NewDifference compares two profiles. The profiles must not change afterwards.
func NewDifference(before, after *Profile) *Difference {
	d := &Difference{Before: before, After: after, scale: 1, objects: before.hasObjects() && after.hasObjects()}
	if b, a := before.Total(), after.Total(); a > 0 && b > 0 {
		d.scale = float64(a) / float64(b)
	}
	return d
}

// Change is a function in two profiles. The weights are shares of the profile's total, from 0
// to 1: without the functions that it called (Self), and with them (Total).
type Change struct {
	Function, Object        string // Object is a base name; "" if unknown
	SelfBefore, SelfAfter   float64
	TotalBefore, TotalAfter float64
}

// Self returns the change of the function's own share.
func (c *Change) Self() float64 { return c.SelfAfter - c.SelfBefore }

// Total returns the change of the function's share with the functions that it called.
func (c *Change) Total() float64 { return c.TotalAfter - c.TotalBefore }

// Functions returns all functions of both profiles, the largest changes of Self first.
func (d *Difference) Functions() []Change {
	index := make(map[functionKey]int)
	var list []Change
	for i, p := range []*Profile{d.Before, d.After} {
		total := max(float64(p.Total()), 1)
		p.functions(d.objects, func(key functionKey, self, all int64) {
			n, ok := index[key]
			if !ok {
				n = len(list)
				index[key] = n
				list = append(list, Change{Function: key.name, Object: key.object})
			}
			c := &list[n]
			if i == 0 {
				c.SelfBefore, c.TotalBefore = float64(self)/total, float64(all)/total
			} else {
				c.SelfAfter, c.TotalAfter = float64(self)/total, float64(all)/total
			}
		})
	}
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Self()), math.Abs(x.Self())), cmp.Compare(math.Abs(y.Total()), math.Abs(x.Total())),
			cmp.Compare(x.Function, y.Function), cmp.Compare(x.Object, y.Object))
	})
	return list
}

// functionKey identifies a function in profiles of different builds.
type functionKey struct{ name, object string }

func keyOf(f *Frame, objects bool) functionKey {
	key := functionKey{name: f.Name()}
	if objects && f.Object != "" {
		key.object = path.Base(f.Object)
	}
	return key
}

// hasObjects reports whether a function has an object.
func (p *Profile) hasObjects() bool {
	return slices.ContainsFunc(p.frames, func(f Frame) bool { return f.Function != "" && f.Object != "" })
}

// functions calls each with the weights of each function, in the order of the first samples.
func (p *Profile) functions(objects bool, each func(key functionKey, self, total int64)) {
	keys := make([]functionKey, len(p.frames))
	for i := range p.frames {
		keys[i] = keyOf(&p.frames[i], objects)
	}
	type weights struct{ self, total int64 }
	sums := make(map[functionKey]*weights)
	var order []functionKey
	seen := make(map[functionKey]bool)
	var stack []int32
	for _, s := range p.samples {
		clear(seen)
		stack = p.stack(stack[:0], s.node)
		for k, f := range stack {
			key := keys[f]
			sum := sums[key]
			if sum == nil {
				sum = new(weights)
				sums[key] = sum
				order = append(order, key)
			}
			if k == 0 {
				sum.self += s.weight
			}
			if !seen[key] {
				seen[key] = true
				sum.total += s.weight
			}
		}
	}
	for _, key := range order {
		each(key, sums[key].self, sums[key].total)
	}
}

// Flame writes a page like that of Profile.Flame, with the weights of After. The colours show
// where they are more than in Before, and where less. Stacks that only Before has are not
// visible in the graph, but their functions are in the table.
func (d *Difference) Flame(w io.Writer) error { return writeFlame(w, d.flameData()) }

func (d *Difference) flameData() *flameData {
	b := newFlameBuilder(d.After)
	b.Nodes.Before = []int64{}
	b.add(d.After, b.comparable(d.After, d.objects), nil, func(n int32, weight int64) { b.Nodes.Self[n] += weight })
	b.add(d.Before, b.comparable(d.Before, d.objects), nil, func(n int32, weight int64) {
		for int(n) >= len(b.Nodes.Before) {
			b.Nodes.Before = append(b.Nodes.Before, 0)
		}
		b.Nodes.Before[n] += int64(math.Round(float64(weight) * d.scale))
	})
	for len(b.Nodes.Before) < len(b.Nodes.Self) {
		b.Nodes.Before = append(b.Nodes.Before, 0)
	}
	return b.flameData
}

// comparable adds the frames of a profile without what differs between builds, and returns
// their numbers.
func (b *flameBuilder) comparable(p *Profile, objects bool) []int32 {
	numbers := make([]int32, len(p.frames))
	for i := range p.frames {
		key := keyOf(&p.frames[i], objects)
		numbers[i] = b.frame(flameFrame{name: key.name, object: key.object, kind: int32(p.frames[i].Code)}, p.frames[i].File)
	}
	return numbers
}
