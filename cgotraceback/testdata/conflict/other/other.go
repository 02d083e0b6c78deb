// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package other sets the C traceback of a program. It is initialized before package
// cgotraceback, which imports more.
package other

// static void traceback(void *arg) { (void)arg; }
// static void *function(void) { return (void *)traceback; }
import "C"

import "runtime"

func init() { runtime.SetCgoTraceback(0, C.function(), nil, nil) }
