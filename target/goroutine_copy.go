// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/target/goruntime"
)

// GoroutineCopiers returns what copies goroutines of a live target while it stands
// still, one for each Go runtime in it: all of them, or what tells of those that threads
// run. It is called before, and reads memory that changes as it does.
func (s *Snapshot) GoroutineCopiers(all bool) (list []*goruntime.Copier) {
	objects := s.Objects()
	defer objects.Close()
	runtimes, _ := objects.runtimes()
	for _, r := range runtimes {
		list = append(list, r.Copier(s.Memory, all))
	}
	return list
}

// runtime is a Go runtime in a target.
type runtime struct {
	*goruntime.Runtime
	object *Object
}

// runtimes returns the Go runtimes of the target by their addresses, and why there is
// a Go program whose runtime is not to be found.
func (o *Objects) runtimes() (list []runtime, err error) {
	var errs []error
	for _, mapped := range o.byModule {
		if !slices.ContainsFunc(mapped.Mappings, func(m *Mapping) bool { return m.Executable }) {
			continue
		}
		f, err := mapped.File()
		if err != nil {
			continue
		}
		var r *goruntime.Runtime
		if failed := object.Guard(func() error { r, err = goruntime.New(f, mapped.Bias); return nil }); failed != nil {
			err = failed
		}
		switch {
		case err == nil:
			list = append(list, runtime{r, mapped})
		case !errors.Is(err, goruntime.ErrNoRuntime):
			errs = append(errs, fmt.Errorf("%s: %w", mapped.Name, err))
		}
	}
	slices.SortFunc(list, func(a, b runtime) int { return cmp.Compare(a.object.Mappings[0].Start, b.object.Mappings[0].Start) })
	return list, errors.Join(errs...)
}
