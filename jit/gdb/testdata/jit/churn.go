// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

// The goroutines of the step churn, and the functions that each has at a time.
const churners, slots = 4, 16

// churner is the state of a goroutine, for a debugger that reads it while the program is stopped.
type churner struct {
	busy  uint64        // 1 + the slot that changes, 0 for none
	round [slots]uint64 // in which the function of a slot was published, 0 without a function
}

// churnBase is the address of the functions, one in each page.
const churnBase = 1 << 40

// churn publishes and withdraws functions n times, over some time. Functions of later rounds have the
// addresses of earlier ones.
func (s *state) churn(n int, over time.Duration) {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	check(err)
	table := (*[churners]churner)(unsafe.Pointer(&page[0]))
	fmt.Printf("table %#x\n", uintptr(unsafe.Pointer(table)))
	var rounds atomic.Uint64
	begin := time.Now()
	var all sync.WaitGroup
	for w := range churners {
		all.Go(func() {
			mine := &table[w]
			var held [slots]jit.Registration
			for {
				round := rounds.Add(1)
				if round > uint64(n) {
					break
				}
				slot := rand.IntN(slots)
				atomic.StoreUint64(&mine.busy, uint64(slot)+1)
				if held[slot] != nil {
					check(held[slot].Withdraw())
				}
				atomic.StoreUint64(&mine.round[slot], 0)
				if rand.IntN(8) > 0 { // others stay empty for some time
					r, err := s.publisher.Publish(&jit.Code{Address: churnBase + uint64(w*slots+slot)<<12, Text: make([]byte, 64),
						Functions: []jit.Function{{Name: fmt.Sprintf("churn_%d_%d", w, round), Size: 64, Unwind: innerUnwind}}})
					check(err)
					held[slot] = r
					atomic.StoreUint64(&mine.round[slot], round)
				} else {
					held[slot] = nil
				}
				atomic.StoreUint64(&mine.busy, 0)
				if round%uint64(max(n/8, 1)) == 0 {
					fmt.Printf("memory %d\n", residentPages())
				}
				if wait := over*time.Duration(round)/time.Duration(n) - time.Since(begin); wait > time.Millisecond {
					time.Sleep(wait)
				}
			}
			for slot, r := range held {
				if r != nil {
					atomic.StoreUint64(&mine.busy, uint64(slot)+1)
					check(r.Withdraw())
					atomic.StoreUint64(&mine.round[slot], 0)
				}
			}
			atomic.StoreUint64(&mine.busy, 0)
		})
	}
	all.Wait()
	fmt.Printf("churned %d\n", n)
}

// residentPages returns the number of the process's pages in memory.
func residentPages() int {
	text, err := os.ReadFile("/proc/self/statm")
	check(err)
	n, err := strconv.Atoi(strings.Fields(string(text))[1])
	check(err)
	return n
}
