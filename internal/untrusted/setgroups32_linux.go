// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build 386 || arm

package untrusted

import "golang.org/x/sys/unix"

const setgroups = unix.SYS_SETGROUPS32 // SYS_SETGROUPS has groups of 16 bits (setgroups(2))
