// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"os"
	"sync"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
)

// sections is the user's cache of inflated sections, nil for none.
var sections = sync.OnceValue(func() object.SectionCache {
	if os.Getenv("CLEW_CACHE") == "off" {
		return nil
	}
	if c := sectioncache.Default(); c != nil {
		return c
	}
	return nil
})

// SearchBelow returns the search for debug files below root that the environment asks for.
func SearchBelow(root string) debugfile.Search {
	return debugfile.Search{Root: root, Fetch: Fetch(), Sections: sections()}
}
