// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"fmt"
	"os"
	"sync"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/debuginfod"
	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
)

// sections returns the user's cache of decompressed sections, nil if it is off.
var sections = sync.OnceValue(func() object.SectionCache {
	if os.Getenv("CLEW_CACHE") != "off" {
		if c := sectioncache.Default(); c != nil {
			return c
		}
	}
	return nil
})

// SearchBelow returns the search for debug files below root, with the settings of the environment.
func SearchBelow(root string) debugfile.Search {
	return debugfile.Search{Root: root, Fetch: Fetch(), Sections: sections()}
}

// Fetch returns the function that fetches files by build ID from the servers in DEBUGINFOD_URLS, nil
// without servers. The command is one client, with one time limit.
var Fetch = sync.OnceValue(func() func(debugfile.Kind, []byte) (*os.File, error) {
	client := debuginfod.FromEnvironment()
	if client == nil {
		return nil
	}
	var end func()
	var shown func(int)
	client.Progress = func(kind debugfile.Kind, id []byte, bytes int64, done bool) {
		switch {
		case done:
			end()
			end = nil
			output.Fetching.Store(false)
		case end == nil:
			output.Fetching.Store(true)
			shown, end = output.DownloadProgress(fmt.Sprintf("kB of the %s of build ID %x fetched", kind, id), 0)
		case shown != nil:
			shown(int(bytes >> 10))
		}
	}
	return client.Fetch
})
