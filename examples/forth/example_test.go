// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth_test

import (
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/examples/forth"
)

const factorial = `
: fact ( n -- n! )
  ?dup if
    dup 1- recurse *
  else
    1
  then ;

10 fact . ." is 10!" cr
`

func Example() {
	program, err := forth.Compile("factorial.fth", []byte(factorial), nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := forth.Load(program, &forth.SessionOptions{Output: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if err := session.Run(); err != nil {
		log.Fatal(err)
	}
	results, err := session.Call("fact", 20)
	fmt.Println(results, err)
	// Output:
	// 3628800 is 10!
	// [2432902008176640000] <nil>
}

// The description of a compiled word.
func ExampleCompile() {
	program, err := forth.Compile("factorial.fth", []byte(factorial), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range program.Functions {
		if line := f.Lines[0]; line.File == "factorial.fth" {
			fmt.Printf("%s is at %s:%d:%d\n", f.Name, line.File, line.Line, line.Column)
		}
	}
	// Output:
	// fact is at factorial.fth:2:1
	// toplevel is at factorial.fth:1:1
}
