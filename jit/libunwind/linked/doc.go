// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package linked makes jit.Publish publish to the libunwind of the program:
//
//	import _ "github.com/clewdev/clew/jit/libunwind/linked"
//
// It is apart from package libunwind, which reads the lists of other programs
// too, since it needs a build with cgo, for Linux on amd64 or arm64. Elsewhere, and
// in a program without libunwind, it builds, and nothing is published.
package linked

import (
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind"
	_ "github.com/clewdev/clew/jit/libunwind/internal/library"
)

func init() { jit.Register(jit.StageLibunwind, "libunwind", new(libunwind.Publisher)) }
