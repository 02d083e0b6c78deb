// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Golocals waits in a function with local variables in all kinds of places: on the stack, on
// the heap, and not declared yet.
package main

import (
	"fmt"
	"os"
)

type pair[T any] struct{ first, second T }

//go:noinline
func wait(n int) (int, string) {
	_, _ = os.Stdin.Read(make([]byte, 1))
	return n, "late"
}

//go:noinline
func work[T any](n int, some pair[T]) string {
	total := n * 3
	escaped := pair[int]{n, 7}
	add := func() { escaped.first++ }
	go add()
	text, copied := "text", some
	for i := 40; i < 42; i++ {
		number, late := wait(i)
		text += fmt.Sprint(number, late, total, copied)
	}
	return text
}

// oneLine declares its results on the line in which it waits.
//
//go:noinline
func oneLine(n int) (total int, err error) { return fmt.Println(work(n, pair[uint8]{1, 2})) }

func main() {
	fmt.Println("ready")
	fmt.Println(oneLine(len(os.Args)))
}
