// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "golang.org/x/sys/unix"

const flag32bit = unix.MAP_32BIT
