// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Gonested stops in a function with nested values in its variables.
package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

type point struct{ X, Y int }

type named struct {
	Name  string
	At    *point
	List  []point
	Table map[string]*point
	Any   any
	Err   error
	Next  *named
	When  time.Time
	For   time.Duration
	Pair  [2]point
	Func  func(int) int
	Empty struct{}
}

type tree struct {
	Left, Right *tree
	N           int
}

//go:noinline
func keep(...any) {}

func last(err error, at *point, none *point) {
	one := named{Name: "one", At: at, List: []point{{1, 2}, {3, 4}}, Table: map[string]*point{"k": at}, Any: *at, Err: err,
		For: 3 * time.Second, Pair: [2]point{{5, 6}, {7, 8}}}
	two := one
	two.Next, two.When = &one, time.Date(2024, 2, 29, 12, 30, 0, 5, time.UTC)
	pointer := &two
	list := []named{one, two}
	table := map[string]named{"x": two}
	held := any(two)
	leaves := &tree{&tree{nil, nil, 1}, &tree{&tree{nil, nil, 3}, nil, 2}, 0}
	deep := map[string]map[string][]point{"a": {"b": {{1, 2}, {3, 4}}}}
	lists := [][][]int{{{1, 2}, {3}}, {}, nil}
	values := []any{1, "x", point{1, 2}, at, none, nil, []int{1}, map[int]string{1: "one"}, time.Duration(5), err}
	typed := any(none)
	far := &pointer
	pointers := [3]*point{at, nil, {3, 4}}
	zero, utc := time.Time{}, time.Date(2021, 1, 3, 4, 5, 6, 700, time.UTC)
	zoned := time.Date(2021, 7, 3, 4, 5, 6, 0, time.FixedZone("CEST", 7200))
	now := time.Now()
	old := time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)
	times := []time.Time{utc, zero}
	keys := map[point]string{{1, 2}: "p"}
	var within struct {
		A struct{ B struct{ C struct{ D int } } }
	}
	wrapped := fmt.Errorf("wrapped: %w", err)
	var noMap map[string]int
	var noList []int
	var noError error
	functions := []func(...any){keep, nil}
	maps := []map[string]int{{"a": 1}, nil}
	month := time.March
	keep(&one, &two, &pointer, &list, &table, &held, &leaves, &deep, &lists, &values, &typed, &far, &pointers, &zero, &utc, &zoned, &now, &old,
		&times, &keys, &within, &wrapped, &noMap, &noList, &noError, &functions, &maps, &month)
	runtime.Breakpoint()
}

func main() { last(errors.New("e"), &point{1, 2}, nil) }
