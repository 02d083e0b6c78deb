// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The plugin has a function that names itself.
package main

import "runtime"

// Name returns the name of its caller's function, without the path of the plugin.
func Name() string {
	pc, _, _, _ := runtime.Caller(0)
	name := runtime.FuncForPC(pc).Name()
	return name[len(name)-len("Name"):]
}

func main() {}
