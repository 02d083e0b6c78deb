// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Gomaps has maps of each size and form.
package main

import (
	"fmt"
	"os"
)

type pair struct {
	a int
	b string
}

type large [200]byte

//go:noinline
func hold(none map[string]int, empty map[int]int, small map[string]int, full map[int]int, many map[int]string, structs map[pair][]int,
	nested map[string]map[int]bool, anything map[any]any, keys map[large]int, values map[int]large, pointers map[int]*large,
	set map[string]struct{}, rest map[int]int, floats map[float64]int8) {
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(none, empty, small, full, many, structs, nested, anything, keys, values, pointers, set, rest, floats)
}

// numbered returns a map with n keys that equal their values.
func numbered(n int) map[int]int {
	m := make(map[int]int)
	for i := range n {
		m[i] = i
	}
	return m
}

func main() {
	many := make(map[int]string)
	for i := range 5000 {
		many[i] = fmt.Sprint(i)
	}
	rest := numbered(2000)
	for i := range 1990 {
		delete(rest, i)
	}
	hold(nil, map[int]int{}, map[string]int{"a": 1}, numbered(8), many, map[pair][]int{{1, "x"}: {1, 2}},
		map[string]map[int]bool{"n": {1: true}}, map[any]any{"two": 2.5}, map[large]int{{1}: 5}, map[int]large{5: {2}}, map[int]*large{6: {3}},
		map[string]struct{}{"s": {}}, rest, map[float64]int8{0.5: -1})
}
