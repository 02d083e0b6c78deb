// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"errors"
	"fmt"
	"strings"
)

// ErrVersion means that the package was not tested with the Go release that built the
// program, or that its runtime is not as expected. Nothing is registered then.
var ErrVersion = errors.New("unsupported Go runtime")

// tested are the Go releases whose runtimes the tests have run with, and the layouts of their
// moduledata.
var tested = [...]struct {
	release string
	layout  *layout
}{
	{"go1.26", &layout126},
	{"go1.27", &layout127},
}

// layout is where the fields of a moduledata are whose offsets differ, in bytes.
type layout struct {
	size uintptr

	goFunc, endTable, bad, next uintptr
}

// layoutOf returns the layout of a version, as runtime.Version returns it.
func layoutOf(version string) (*layout, error) {
	releases := make([]string, len(tested))
	for i, t := range tested {
		releases[i] = t.release
		rest, ok := strings.CutPrefix(version, t.release)
		// A patch release, and a build with experiments or of a vendor: "go1.26.8 X:nodwarf5".
		if ok && (rest == "" || strings.IndexByte(".- ", rest[0]) >= 0) {
			return t.layout, nil
		}
	}
	return nil, fmt.Errorf("%w: this program was built with %s, and the package is tested with %s only",
		ErrVersion, version, strings.Join(releases, ", "))
}

// Releases returns the Go releases that the package was tested with, such as "go1.26". It
// refuses other releases.
func Releases() []string {
	var r []string
	for _, t := range tested {
		r = append(r, t.release)
	}
	return r
}

// Supported returns nil if functions can be published in this program. Otherwise the error
// wraps ErrVersion or ErrMemory, and Publish returns it too.
func Supported() error { return start() }
