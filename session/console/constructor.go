// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/session"
)

// planned is a call that is made when the constructors have returned.
type planned struct {
	call        *Call
	atBeginning bool
}

// constructors are the constructors of the images that were not called yet, in
// their order. Each is called once, before the first call of the console.
func (c *Console) constructors() (list []uint64) {
	images := c.session.Images()
	c.constructed = slices.DeleteFunc(c.constructed, func(i *session.Image) bool { return !slices.Contains(images, i) })
	for _, image := range images {
		if !slices.Contains(c.constructed, image) {
			c.constructed = append(c.constructed, image)
			list = append(list, image.Constructors()...)
		}
	}
	return list
}

// constructor is the call of one.
func (c *Console) constructor(address uint64) *Call {
	name, _, ok := c.symbols.Symbol(address)
	if !ok {
		name = fmt.Sprintf("*%#x", address)
	}
	return &Call{Text: "the constructor " + name, Function: address, constructor: true}
}

// startPlanned calls the constructors that are left, and then what is planned. A
// constructor that stops is shown, and what is behind it waits for its end.
func (c *Console) startPlanned() error {
	c.toConstruct = append(c.toConstruct, c.constructors()...)
	for len(c.toConstruct) > 0 {
		c.running = c.constructor(c.toConstruct[0])
		c.toConstruct = c.toConstruct[1:]
		stop, err := c.begin(c.running, false)
		if err != nil {
			return err
		}
		if stop.Reason != session.Returned {
			c.printf("Running %s.\n", c.running.Text)
			return c.stopped(stop, "")
		}
	}
	next := c.planned
	c.planned = nil
	if next == nil {
		return nil
	}
	c.running = next.call
	stop, err := c.begin(next.call, next.atBeginning)
	if err != nil {
		return err
	}
	return c.stopped(stop, "")
}
