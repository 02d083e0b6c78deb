// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import "flag"

var wholeFiles = flag.Bool("whole-files", false, "compare with objdump over all of each file, which takes minutes")
