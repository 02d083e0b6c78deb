// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package sample shortens tests that would run for minutes. Such a test checks a sample of
// its cases, which changes from day to day, or all of them with CLEW_FULL=1.
// CLEW_SEED=20261123 repeats the sample of that day. A sample covers every feature of the
// cases: each compiler, each option, each kind of file.
package sample

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Full reports whether tests check everything: with CLEW_FULL=1, but never
// with -short.
func Full() bool { return os.Getenv("CLEW_FULL") == "1" && !testing.Short() }

// today is read once, so that the seed of a test does not change at midnight.
var today = time.Now().UTC().Format("20060102")

// Rand returns the random number generator of a test. It is seeded by CLEW_SEED or the day,
// and by the name of the test. A test that fails logs the seed.
func Rand(tb testing.TB) *rand.Rand {
	tb.Helper()
	text := os.Getenv("CLEW_SEED")
	if text == "" {
		text = today
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("CLEW_SEED: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("repeat this run with CLEW_SEED=%d", seed)
		}
	})
	name := fnv.New64a()
	name.Write([]byte(tb.Name()))
	return rand.New(rand.NewPCG(seed, name.Sum64()))
}

// Covering returns n elements of all, in their order, or more if fewer do not have every
// feature that an element of all has. If Full is true, it returns all elements.
func Covering[E any](tb testing.TB, all []E, n int, features func(E) []string) []E {
	tb.Helper()
	if Full() || len(all) <= n {
		return slices.Clone(all)
	}
	order := Rand(tb).Perm(len(all))
	covered := make(map[string]bool)
	gain := func(k int) (added int) {
		for _, feature := range features(all[k]) {
			if !covered[feature] {
				added++
			}
		}
		return added
	}
	var chosen []int
	for {
		best := slices.MaxFunc(order, func(a, b int) int { return cmp.Compare(gain(a), gain(b)) })
		if gain(best) == 0 {
			break
		}
		chosen = append(chosen, best)
		for _, feature := range features(all[best]) {
			covered[feature] = true
		}
	}
	order = slices.DeleteFunc(order, func(k int) bool { return slices.Contains(chosen, k) })
	chosen = append(chosen, order[:max(0, n-len(chosen))]...)
	slices.Sort(chosen)
	elements := make([]E, len(chosen))
	for i, k := range chosen {
		elements[i] = all[k]
	}
	return elements
}

// Of returns n elements of all, in their order. If Full is true or there are fewer, it
// returns all of them.
func Of[E any](tb testing.TB, all []E, n int) []E {
	tb.Helper()
	return Covering(tb, all, n, func(E) []string { return nil })
}
