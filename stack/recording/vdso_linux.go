// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"github.com/clewdev/clew/object"
)

// openVDSO opens the vDSO that the kernel has given this process.
func openVDSO() (*object.File, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasSuffix(line, " "+vdsoName) {
			continue
		}
		addresses, _, _ := strings.Cut(line, " ")
		first, last, _ := strings.Cut(addresses, "-")
		start, err := strconv.ParseUint(first, 16, 64)
		if err != nil {
			return nil, err
		}
		end, err := strconv.ParseUint(last, 16, 64)
		if err != nil {
			return nil, err
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer memory.Close()
		image := make([]byte, end-start)
		if _, err := memory.ReadAt(image, int64(start)); err != nil {
			return nil, err
		}
		return object.NewFile(image, vdsoName)
	}
	return nil, errNoVDSO
}
