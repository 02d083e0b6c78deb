// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/spelling"
)

// HasInstance reports whether there is an instance of a template of C++ with a name, "box<int>" or
// "ns::box<int>": a type or a function. In the code at pc the name can leave out the namespaces
// around that.
func (i *Info) HasInstance(name string, pc uint64) (found bool) {
	_ = i.locked(func() error { // names that cannot be read are not found
		for _, full := range i.qualifications(name, pc, i.entries.UnitAt(pc)) {
			if _, ok := i.instances[spelling.Canonical(full)]; ok {
				found = true
			}
		}
		return nil
	})
	return found
}

// declared returns a name with template arguments as the compiler spells it.
func (i *Info) declared(name string) string {
	if i.instances == nil {
		i.instances = make(map[string]string)
		_ = i.entries.IndexAll() // names that cannot be read are not found
		for _, u := range i.entries.Units {
			if u.Language != CPlusPlus && u.Language != Rust {
				continue
			}
			i.addInstances(u.Names.Types)
			i.addInstances(u.Names.Functions)
			i.addInstances(u.Names.Variables)
		}
	}
	if known, ok := i.instances[spelling.Canonical(name)]; ok {
		return known
	}
	return name
}

func (i *Info) addInstances(names map[string][]object.DebugOffset) {
	for name := range names {
		if strings.Contains(name, "<") && i.entries.Retain(1) {
			i.instances[spelling.Canonical(name)] = name
		}
	}
}
