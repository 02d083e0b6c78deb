// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command golabels runs goroutines with profiler labels. Each function named spin… runs with certain labels
// only: spinOuter with route=outer, spinInner with route=outer and step=inner, spinInherited with
// route=inherited, which the goroutine has from the one that started it, spinNone without any. Its
// argument is the time of each step in milliseconds, on a processor of its own: on a busy machine the steps
// take longer and do the same work.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

//go:noinline
func work() (n int) {
	for i := range 10_000 {
		n += i ^ n<<1
	}
	return n
}

// unit is the shortest time of work, which is the time that it takes if nothing interrupts it.
var unit = func() time.Duration {
	fastest := time.Duration(math.MaxInt64)
	for range 200 {
		start := time.Now()
		result += work()
		fastest = min(fastest, time.Since(start))
	}
	return max(fastest, 1)
}()

var result int

func spin(d time.Duration) (n int) {
	for range d / unit {
		n += work()
	}
	return n
}

//go:noinline
func spinOuter(d time.Duration) int { return spin(d) + 1 }

//go:noinline
func spinInner(d time.Duration) int { return spin(d) + 2 }

//go:noinline
func spinInherited(d time.Duration) int { return spin(d) + 3 }

//go:noinline
func spinNone(d time.Duration) int { return spin(d) + 4 }

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	step, ctx, sum := time.Duration(n)*time.Millisecond, context.Background(), result
	fmt.Println("ready")
	go func() {
		pprof.Do(ctx, pprof.Labels("route", "inherited"), func(context.Context) {
			for {
				done := make(chan int)
				go func() { done <- spinInherited(step) }()
				<-done
			}
		})
	}()
	for {
		pprof.Do(ctx, pprof.Labels("route", "outer"), func(ctx context.Context) {
			sum += spinOuter(step)
			pprof.Do(ctx, pprof.Labels("step", "inner"), func(context.Context) { sum += spinInner(step) })
			sum += spinOuter(step)
		})
		sum += spinNone(step)
	}
}
