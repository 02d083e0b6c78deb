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

// sections returns the user's cache of decompressed sections, nil if it is off.
var sections = sync.OnceValue(func() object.SectionCache {
	if c := sectioncache.Default(); c != nil && os.Getenv("CLEW_CACHE") != "off" {
		return c
	}
	return nil // not a nil *sectioncache.Cache
})

// SearchBelow returns the search for debug files below root, with the settings of the environment.
func SearchBelow(root string) debugfile.Search {
	return debugfile.Search{Root: root, Fetch: Fetch(), Sections: sections()}
}
