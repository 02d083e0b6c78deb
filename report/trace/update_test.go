// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace_test

import "flag"

var update = flag.Bool("update", false, "write the golden files anew: go test ./report/trace -update")
