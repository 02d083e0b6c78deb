// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/stack"
)

// clonedName is the copy of the name of a function of generated code. The frames of a
// function are named one after the other and share the copy.
type clonedName struct{ of, copy string }

func (c *clonedName) clone(name string) string {
	if name != c.of {
		c.of, c.copy = name, strings.Clone(printable.Shortened(name, printable.MaxName))
	}
	return c.copy
}

// shortenNames cuts names of new frames, by the names of these and of all before.
func (b *builder) shortenNames(places []stack.Code) {
	for i := range places {
		b.nameLimit.Count(&places[i])
	}
	for i := range places {
		b.nameLimit.Shorten(&places[i])
	}
}
