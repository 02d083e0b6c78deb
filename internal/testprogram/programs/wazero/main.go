// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Wazero loops forever in WebAssembly that wazero compiled. With -tags perfmap it writes a
// perf map. It is a separate module, so that Clew's does not need wazero.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
)

// A module of two functions without parameters: inner loops, outer calls it and
// is exported as "main". (WebAssembly 1.0 §5)
var module = []byte{
	0, 'a', 's', 'm', 1, 0, 0, 0,
	1, 4, 1, 0x60, 0, 0, // one type: func()
	3, 3, 2, 0, 0, // two functions of it
	7, 8, 1, 4, 'm', 'a', 'i', 'n', 0, 1, // function 1 is exported
	10, 14, 2,
	7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, // inner: loop, br 0, end, end
	4, 0, 0x10, 0, 0x0b, // outer: call 0, end
	0, 22, 4, 'n', 'a', 'm', 'e', 1, 15, 2, 0, 5, 'i', 'n', 'n', 'e', 'r', 1, 5, 'o', 'u', 't', 'e', 'r',
}

func main() {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if _, err := m.ExportedFunction("main").Call(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
