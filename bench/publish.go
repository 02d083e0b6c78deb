// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/jit/perf"
)

const batches, functions = 100, 1000

// publishMeasurements are of publishing without a debugger or a profiler, in this process.
func publishMeasurements(dir string) ([]*measurement, error) {
	codes, err := publishedCode()
	if codes == nil || err != nil {
		return nil, err
	}
	dump, err := perf.NewPublisher(perf.Options{Jitdump: true, Dir: dir})
	if err != nil {
		return nil, err
	}
	all := append(publishing("gdb", new(gdb.Publisher), codes, time.Microsecond),
		publishing("a jitdump", dump, codes, 2*time.Microsecond)...)
	return append(all, unheard(codes)), nil
}

// unheard measures jit.Publish with names and lines as functions, while no debugger is attached to
// this program, which publishes on demand.
func unheard(codes []*jit.Code) *measurement {
	gdb.Default.OnDemand = time.Hour
	described := make([]*jit.Code, len(codes))
	for i, c := range codes {
		d := *c
		d.Functions = slices.Clone(c.Functions)
		for k := range d.Functions {
			d.Functions[k].Name, d.Functions[k].Lines = "", nil
		}
		d.NameOf = func(k int) string { return c.Functions[k].Name }
		d.LinesOf = func(k int) []jit.Line { return c.Functions[k].Lines }
		described[i] = &d
	}
	publications := make([]*jit.Publication, len(codes))
	return &measurement{
		name:      "nobody listens: publish 100 batches of 1,000 functions with lines",
		maxRounds: 20,
		clew: contender{name: "clew", run: func() (outcome, error) {
			o, err := timed(func(*outcome) error {
				for i, c := range described {
					var err error
					if publications[i], err = jit.Publish(c); err != nil {
						return err
					}
				}
				return nil
			})
			for _, p := range publications {
				err = errors.Join(err, p.Withdraw())
			}
			return o, err
		}},
		peers: []contender{limit(batches * functions * 50 * time.Nanosecond)},
	}
}

// publishedCode returns the batches, or nil on machines without a publisher.
func publishedCode() ([]*jit.Code, error) {
	if _, err := gdb.Default.Publish(&jit.Code{}); errors.Is(err, jit.ErrNotApplicable) || jit.Host() == nil {
		return nil, nil
	}
	leaf, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		return nil, err
	}
	codes := make([]*jit.Code, batches)
	for i := range codes {
		c := &jit.Code{Address: 1<<40 + uint64(i)<<20, Text: make([]byte, 64*functions), Functions: make([]jit.Function, functions)}
		for k := range c.Functions {
			c.Functions[k] = jit.Function{Name: "function_" + strconv.Itoa(i*functions+k), Offset: uint64(k) * 64, Size: 64, Unwind: leaf,
				Lines: []jit.Line{{File: "/src/bench.jit", Line: 1 + k}, {Offset: 8, File: "/src/bench.jit", Line: 2 + k}}}
		}
		codes[i] = c
	}
	return codes, nil
}

// publishing measures one publisher. The limit is for each function.
func publishing(tool string, publisher jit.Publisher, codes []*jit.Code, perFunction time.Duration) []*measurement {
	registrations := make([]jit.Registration, len(codes))
	publish := func() error {
		for i, c := range codes {
			var err error
			if registrations[i], err = publisher.Publish(c); err != nil {
				return err
			}
		}
		return nil
	}
	withdraw := func() error {
		for _, r := range registrations {
			if err := r.Withdraw(); err != nil {
				return err
			}
		}
		return nil
	}
	publishTimed := func() (outcome, error) {
		o, err := timed(func(*outcome) error { return publish() })
		return o, errors.Join(err, withdraw())
	}
	return []*measurement{{
		name:      "without a debugger: publish 100 batches of 1,000 functions to " + tool,
		maxRounds: 5,
		clew:      contender{name: "clew", run: publishTimed},
		peers:     []contender{limit(batches * functions * perFunction)},
	}, {
		name:      "and withdraw them from " + tool,
		maxRounds: 5,
		clew: contender{name: "clew", run: func() (outcome, error) {
			if err := publish(); err != nil {
				return outcome{}, err
			}
			return timed(func(*outcome) error { return withdraw() })
		}},
		peers: []contender{{name: "publishing them", goal: 1, run: publishTimed}},
	}}
}
