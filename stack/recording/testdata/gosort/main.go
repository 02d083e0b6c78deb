// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command gosort sorts at the end of recursions, in four goroutines.
package main

import (
	"fmt"
	"sort"
	"sync"
)

//go:noinline
func descend(n int, v []int) int {
	if n == 0 {
		sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
		for i := range v {
			v[i] = v[i] * 31 % 1009
		}
		return v[0]
	}
	return descend(n-1, v) + 1
}

func main() {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			v := make([]int, 200)
			for range 10000 {
				descend(20, v)
			}
		})
	}
	all.Wait()
	fmt.Println("done")
}
