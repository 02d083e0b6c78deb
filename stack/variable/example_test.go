// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package variable_test

import (
	"fmt"
	"log"

	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/variable"
	"github.com/clewdev/clew/value/print"
)

// Print the arguments of the functions of a core's first thread.
func ExampleReader() {
	c, err := core.Open("core.4711", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	objects := stack.NewObjects(c.Snapshot())
	defer objects.Close()
	stacks := objects.Walk(stack.WalkOptions{Registers: true})
	if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
		log.Print(err)
	}
	reader := variable.NewReader(c.Snapshot(), objects)
	printer := print.Printer{Symbols: reader}
	frames := reader.Frames(&stacks[0], nil)
	for i := range frames {
		frame := &frames[i]
		for _, scope := range frame.Scopes() {
			for _, a := range scope.Arguments {
				fmt.Println(scope.Function.Name, printer.Argument(a, frame))
			}
		}
	}
}
