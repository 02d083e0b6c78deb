// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Conflict imports two packages that set the C traceback.
package main

import (
	_ "github.com/clewdev/clew/cgotraceback"
	_ "github.com/clewdev/clew/cgotraceback/testdata/conflict/other"
)

func main() {}
