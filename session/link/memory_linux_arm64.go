// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

// mapLow is the flag of mmap for memory in the low 2 GiB. arm64 has none.
const mapLow = 0
