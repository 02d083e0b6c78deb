// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"os"
	"strconv"

	"github.com/clewdev/clew/snapshot"
)

// Mappings returns the mappings of process pid, by ascending address. The kernel
// returns the list in pieces, so the list is not exact if the process maps and
// unmaps at the same time. With an error it returns the mappings that were read.
func Mappings(pid int) ([]snapshot.Mapping, error) {
	f, err := openMaps(pid)
	if err != nil {
		if e := explainOpen(pid, err); e != nil {
			return nil, e
		}
		return nil, err
	}
	defer f.Close()
	mappings, err := snapshot.ParseMappings(f)
	if err != nil {
		return mappings, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return mappings, nil
}

// openMaps opens the list of what a process has mapped.
func openMaps(pid int) (*os.File, error) {
	return os.Open("/proc/" + strconv.Itoa(addressSpace(pid)) + "/maps")
}
