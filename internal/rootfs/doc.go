// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package rootfs opens files as a process with another root directory would.
// It makes no file and changes none.
package rootfs
