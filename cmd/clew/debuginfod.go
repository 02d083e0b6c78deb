// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/debuginfod"
)

// fetch returns what fetches files by build ID, nil where the environment asks for
// nothing. All of the command is one client: what it may take is counted once.
var fetch = sync.OnceValue(func() func(debugfile.Kind, []byte) (*os.File, error) {
	client := debuginfod.FromEnvironment()
	if client == nil {
		return nil
	}
	var end func()
	var shown func(int)
	client.Progress = func(what debugfile.Kind, id []byte, bytes int64, done bool) {
		switch {
		case done:
			end()
			end = nil
			fetching.Store(false)
		case end == nil:
			fetching.Store(true)
			shown, end = progressAbove(fmt.Sprintf("kB of the %s of build ID %x fetched", what, id), 0)
		case shown != nil:
			shown(int(bytes >> 10))
		}
	}
	return client.Fetch
})
