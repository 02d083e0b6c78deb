// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package environment makes jit.Publish publish to perf if the program's environment asks for
// it:
//
//	import _ "github.com/clewdev/clew/jit/perf/environment"
//
//	CLEW_PERF=jitdump      a jitdump in the directory JITDUMPDIR, or else the temporary one
//	CLEW_PERF=map          /tmp/perf-PID.map, where perf looks for it
//	CLEW_PERF=jitdump,map  both
//
// If a jitdump cannot be begun, the map is still written, and jit.Publication.Failed
// contains the error.
//
// It is separate from package perf, which also reads other programs' files: a reader of
// profiles writes no files because of its environment. A program that chooses the files
// itself uses perf.Publisher.
package environment

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// Two publishers are registered, so that one still publishes if the other fails, and
// jit.Publication reports each.
func init() {
	jit.Register(jit.StagePerf, "perf-jitdump", newPublisher(beginDump))
	jit.Register(jit.StagePerf, "perf-map", newPublisher(beginMap))
}

// variable is the environment variable.
const variable = "CLEW_PERF"

// publisher publishes as the environment says. It reads the environment once, at the
// first batch or query; a file that cannot be begun then is never written.
type publisher struct {
	begun func() (*perf.Publisher, error)
}

func newPublisher(begin func(value string) (*perf.Publisher, error)) publisher {
	return publisher{sync.OnceValues(func() (*perf.Publisher, error) { return begin(os.Getenv(variable)) })}
}

func (p publisher) Publish(c *jit.Code) (jit.Registration, error) {
	begun, err := p.begun()
	if err != nil {
		return nil, err
	}
	return begun.Publish(c)
}

// Listening implements jit.Listener. It begins the file, as Publish does. An error other than
// that the environment does not ask for the file is left to Publish, which returns it.
func (p publisher) Listening() bool {
	_, err := p.begun()
	return !errors.Is(err, jit.ErrNotApplicable)
}

func beginDump(value string) (*perf.Publisher, error) {
	switch o, err := parse(value); {
	case err != nil:
		return nil, err
	case !o.Jitdump:
		return nil, jit.ErrNotApplicable
	}
	return perf.NewPublisher(perf.Options{Jitdump: true})
}

// beginMap ignores an invalid variable: beginDump reports it.
func beginMap(value string) (*perf.Publisher, error) {
	if o, err := parse(value); err != nil || !o.Map {
		return nil, jit.ErrNotApplicable
	}
	return perf.NewPublisher(perf.Options{Map: true})
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
