// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"iter"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// Row returns the row of the line table for an address of an image, the zero value if there
// is none.
func Row(s *session.Session, address uint64) object.LineRange {
	f := fileAt(s, address)
	if f == nil {
		return object.LineRange{}
	}
	r, err := f.LineRange(address)
	if err != nil {
		return object.LineRange{}
	}
	return r
}

// Locations returns the source locations of an address of an image, the innermost inlined
// call first.
func Locations(s *session.Session, address uint64) []object.Location {
	f := fileAt(s, address)
	if f == nil {
		return nil
	}
	list, _ := f.Locate(address) // a file that cannot be read has no source
	return list
}

func fileAt(s *session.Session, address uint64) *object.File {
	i := s.Image(address)
	if i == nil {
		return nil
	}
	return i.File(address)
}

// Functions yields the functions of all images.
func Functions(s *session.Session) iter.Seq[session.Function] {
	return func(yield func(session.Function) bool) {
		for _, i := range s.Images() {
			for _, f := range i.Functions() {
				if !yield(f) {
					return
				}
			}
		}
	}
}
