// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"os"
	"sync"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
)

// sections is where the user's inflated sections are kept, nil for nowhere.
var sections = sync.OnceValue(func() object.SectionCache {
	if os.Getenv("CLEW_CACHE") == "off" {
		return nil
	}
	if c := sectioncache.Default(); c != nil {
		return c
	}
	return nil
})

// searchBelow returns how files below root are looked for, as the environment asks.
func searchBelow(root string) debugfile.Search {
	return debugfile.Search{Root: root, Fetch: fetch(), Sections: sections()}
}
