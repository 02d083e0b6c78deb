// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/clewdev/clew/jit"
)

// Options selects what a Publisher writes.
type Options struct {
	Jitdump bool // as Create does
	Map     bool // as OpenMap does

	// Dir is the directory of the jitdump. If it is "", the environment variable JITDUMPDIR
	// names the directory, or else it is the temporary directory.
	Dir string
}

// Publisher publishes through a jitdump, a perf map, or both. Its methods may be
// called concurrently.
type Publisher struct {
	mu   sync.Mutex // for removing a batch from one file if the other fails
	dump *Dump      // nil if not written
	list *MapWriter // nil if not written
}

// NewPublisher begins the files that the options select. After an error there are no new
// files. A caller that wants one of them even if the other fails uses Create and OpenMap.
func NewPublisher(o Options) (*Publisher, error) {
	p := new(Publisher)
	var err error
	if o.Jitdump {
		if p.dump, err = createIn(o.Dir); err != nil {
			return nil, err
		}
	}
	if o.Map {
		if p.list, err = OpenMap(); err != nil {
			if p.dump != nil {
				_ = p.dump.Close()
				_ = os.Remove(p.dump.Path())
			}
			return nil, err
		}
	}
	return p, nil
}

// Publish implements jit.Publisher. A batch that cannot be written to both is written to
// neither. The error is jit.ErrNotApplicable if the options select nothing.
func (p *Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	switch {
	case p.dump == nil && p.list == nil:
		return nil, jit.ErrNotApplicable
	case p.list == nil:
		return p.dump.Publish(c)
	case p.dump == nil:
		return p.list.Publish(c)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	c, err := c.Resolve(true) // once for both
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.dump.Publish(c)
	if err != nil {
		return nil, err
	}
	m, err := p.list.Publish(c)
	if err != nil {
		p.dump.takeBack(r.(*dumped))
		return nil, err
	}
	return both{r, m}, nil
}

// both is a batch in a dump and in a map.
type both struct{ dump, list jit.Registration }

// Withdraw implements jit.Registration.
func (b both) Withdraw() error { return errors.Join(b.dump.Withdraw(), b.list.Withdraw()) }

// WithdrawFunctions implements jit.Registration.
func (b both) WithdrawFunctions(functions ...int) error {
	if err := b.dump.WithdrawFunctions(functions...); err != nil {
		return err
	}
	return b.list.WithdrawFunctions(functions...)
}

// Listening reports whether the options select anything. It implements jit.Listener.
func (p *Publisher) Listening() bool { return p.dump != nil || p.list != nil }

// Close closes both files, as Dump.Close and MapWriter.Close do.
func (p *Publisher) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var dumpErr, listErr error
	if p.dump != nil {
		dumpErr = p.dump.Close()
	}
	if p.list != nil {
		listErr = p.list.Close()
	}
	return errors.Join(dumpErr, listErr)
}

// createIn creates a jitdump in a directory; "" is the one in the environment.
func createIn(dir string) (*Dump, error) {
	if dir != "" {
		return Create(dir)
	}
	dir, from := os.Getenv(directoryVariable), "the directory is set by "+directoryVariable
	if dir == "" {
		dir, from = os.TempDir(), "the temporary directory, because "+directoryVariable+" is not set"
	}
	d, err := Create(dir)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, from)
	}
	return d, nil
}

// directoryVariable is the environment variable with the directory of jitdumps.
const directoryVariable = "JITDUMPDIR"
