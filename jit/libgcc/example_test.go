// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc_test

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libgcc"
)

// C++ exceptions pass through a generated function while it is published.
func Example() {
	memory, err := jit.NewMemory(4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()

	// sub $24, %rsp; …; add $24, %rsp; ret
	table, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).
		At(4).AdjustCFAOffset(24).
		At(60).AdjustCFAOffset(-24).Program()
	if err != nil {
		fmt.Println(err)
		return
	}
	published, err := libgcc.Publisher{}.Publish(&jit.Code{
		Address:   memory.Address(),
		Text:      memory.Bytes(),
		Functions: []jit.Function{{Name: "generated", Size: 64, Unwind: table}},
	})
	switch {
	case errors.Is(err, jit.ErrNotApplicable):
		// No C++ is in the process.
	case err != nil:
		fmt.Println(err)
		return
	default:
		defer published.Withdraw()
	}
	fmt.Println("ready to be called")
	// Output: ready to be called
}
