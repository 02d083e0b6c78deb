// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package environment makes jit.Publish tell perf, as the program's environment
// says:
//
//	import _ "github.com/clewdev/clew/jit/perf/environment"
//
//	CLEW_PERF=jitdump      a jitdump in the folder JITDUMPDIR, or else the temporary one
//	CLEW_PERF=map          /tmp/perf-PID.map, where perf looks for it
//	CLEW_PERF=jitdump,map  both
//
// Where a jitdump cannot be begun, the map is written all the same, and
// jit.Publication.Failed tells.
//
// It is apart from package perf, which reads what other programs wrote too: a
// reader of profiles writes no files because of its environment. A program that
// decides for itself what it writes has perf.Publisher.
package environment

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// The registered publishers are two, so that one that fails does not keep the
// other from publishing, and jit.Publication tells of either.
func init() {
	jit.Register(jit.StagePerf, "perf-jitdump", &publisher{begin: beginDump})
	jit.Register(jit.StagePerf, "perf-map", &publisher{begin: beginMap})
}

// variable is the environment variable.
const variable = "CLEW_PERF"

// publisher does what the environment says. It looks at it once, when the first
// batch comes; what cannot be begun then stays so.
type publisher struct {
	begin func(value string) (jit.Publisher, error)
	once  sync.Once
	begun jit.Publisher
	err   error
}

func (p *publisher) Publish(c *jit.Code) (jit.Registration, error) {
	p.once.Do(func() { p.begun, p.err = p.begin(os.Getenv(variable)) })
	if p.err != nil {
		return nil, p.err
	}
	return p.begun.Publish(c)
}

func beginDump(value string) (jit.Publisher, error) {
	switch o, err := parse(value); {
	case err != nil:
		return nil, err
	case !o.Jitdump:
		return nil, jit.ErrNotApplicable
	}
	return begin(perf.Options{Jitdump: true})
}

// beginMap leaves it to beginDump to say what is wrong with the variable.
func beginMap(value string) (jit.Publisher, error) {
	if o, err := parse(value); err != nil || !o.Map {
		return nil, jit.ErrNotApplicable
	}
	return begin(perf.Options{Map: true})
}

func begin(o perf.Options) (jit.Publisher, error) {
	p, err := perf.NewPublisher(o)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// parse reads the value of the environment variable.
func parse(value string) (perf.Options, error) {
	var o perf.Options
	if value == "" {
		return o, nil
	}
	for name := range strings.SplitSeq(value, ",") {
		switch name {
		case "jitdump":
			o.Jitdump = true
		case "map":
			o.Map = true
		default:
			return perf.Options{}, fmt.Errorf("%s is %q, expected jitdump, map or both with a comma", variable, value)
		}
	}
	return o, nil
}
