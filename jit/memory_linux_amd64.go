// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

// synchronizeCode does nothing: the instruction cache follows stores, and the mprotect before
// it serializes (Intel SDM volume 3A, Handling Self- and Cross-Modifying Code).
func synchronizeCode([]byte) {}
