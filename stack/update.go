// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// SetSnapshot makes the objects those of another snapshot of the same target. All that
// was read of their files is kept. The former snapshot must not be used with them any more.
func (o *Objects) SetSnapshot(s *snapshot.Snapshot) {
	o.snapshot = s
	for _, object := range o.byModule {
		object.snapshot = s
	}
	o.Update()
}

// Update takes in that the snapshot's target has mapped something else than when
// the objects were made, or told something else of its generated code: process.Watch
// changes a snapshot so. Objects that are where they were stay open, with all that
// was read of them; those that are gone are still good for the frames that were found
// in them, until Close.
func (o *Objects) Update() {
	fresh := NewObjects(o.snapshot)
	known := make(map[string][]*Object)
	for _, old := range o.byModule {
		known[old.Name] = append(known[old.Name], old)
	}
	o.resetGenerated()
	modules := make(map[*unwind.Module]*unwind.Module) // a fresh one, and what stands for it
	for m, now := range fresh.byModule {
		if i := slices.IndexFunc(known[now.Name], now.isAt); i >= 0 {
			old := known[now.Name][i]
			old.Mappings = now.Mappings
			modules[m] = &old.module
			continue
		}
		now.objects = o
		o.byModule[m] = now
		modules[m] = m
	}
	o.Modules = unwind.Modules{}
	for i := range o.snapshot.Mappings {
		m := &o.snapshot.Mappings[i]
		if !m.Executable {
			continue
		}
		module := &o.generated.module
		if found, ok := fresh.Modules.Find(m.Start); ok && modules[found] != nil {
			module = modules[found]
		}
		o.Modules.Add(m.Start, m.End, module)
	}
	o.Modules.Changed()
}

// isAt reports whether another object is the same file, mapped in the same way.
func (o *Object) isAt(other *Object) bool {
	return slices.EqualFunc(o.Mappings, other.Mappings, func(a, b *snapshot.Mapping) bool { return *a == *b })
}
