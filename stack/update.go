// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// SetSnapshot replaces the snapshot by a newer one of the same target, and keeps the opened
// files. The former snapshot must not be used with the objects any more.
func (o *Objects) SetSnapshot(s *snapshot.Snapshot) {
	o.snapshot = s
	for _, object := range o.byModule {
		object.snapshot = s
	}
	o.Update()
}

// Update adapts the objects to changed mappings and changed generated code of their
// snapshot, as process.Watch makes them. Objects at the same place stay open. Unmapped
// objects stay valid for the frames in them, until Close.
func (o *Objects) Update() {
	fresh := NewObjects(o.snapshot)
	known := make(map[string][]*Object)
	for _, old := range o.byModule {
		known[old.Name] = append(known[old.Name], old)
	}
	o.resetGenerated()
	modules := make(map[*unwind.Module]*unwind.Module) // from fresh ones to those that are used
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
