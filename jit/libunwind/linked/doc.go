// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package linked makes jit.Publish publish to the libunwind of the program:
//
//	import _ "github.com/clewdev/clew/jit/libunwind/linked"
//
// It is separate from package libunwind, which also reads the lists of other programs,
// because it needs cgo, Linux, and amd64 or arm64. In other builds, and in a program
// without libunwind, it compiles and publishes nothing.
package linked

import (
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind"
	_ "github.com/clewdev/clew/jit/libunwind/internal/library"
)

func init() { jit.Register(jit.StageLibunwind, "libunwind", new(libunwind.Publisher)) }
