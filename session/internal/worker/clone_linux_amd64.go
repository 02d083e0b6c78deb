// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

// tlsBeforeChild says that the thread pointer is the fourth argument of clone, and the place for the
// child's thread ID the fifth (clone(2), "C library/kernel differences").
const tlsBeforeChild = false
