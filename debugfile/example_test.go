// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debugfile_test

import (
	"fmt"

	"github.com/clewdev/clew/debugfile"
)

// OpenObject opens a library of a device. Its file system was copied to /srv/device.
func Example() {
	search := debugfile.Search{Root: "/srv/device", Stores: []debugfile.Store{{Dir: "/usr/lib/debug"}}}
	f, err := search.OpenObject(&debugfile.Module{Path: "/usr/lib/libexample.so", BuildID: []byte{0x12, 0x34, 0x56}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	if _, err := search.OpenDebugFile(f); err != nil {
		fmt.Println(err)
	}
	// Output: /usr/lib/libexample.so: there is no /srv/device/usr/lib/libexample.so, no /usr/lib/libexample.so; no file of build ID 123456 was found in /usr/lib/debug
}
