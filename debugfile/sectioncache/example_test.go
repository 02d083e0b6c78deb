// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sectioncache_test

import (
	"fmt"
	"log"

	"github.com/clewdev/clew/debugfile/sectioncache"
	"github.com/clewdev/clew/object"
)

// Find the line of an address in a debug file. Its sections are decompressed once.
func Example() {
	f, err := object.Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	search := object.DebugSearch{}
	if cache := sectioncache.Default(); cache != nil {
		search.Sections = cache
	}
	if _, err := f.OpenDebugFile(search); err != nil {
		log.Print(err)
	}
	locations, err := f.Locate(f.Entry())
	if err != nil {
		log.Print(err)
	}
	for _, l := range locations {
		fmt.Println(l.Function, l.File, l.Line)
	}
}
