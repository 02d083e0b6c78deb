// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
)

func isError(err, kind error) bool { return errors.Is(err, kind) }

func ExampleOpen() {
	c, err := core.Open("/var/lib/systemd/coredump/core.server.zst", &core.Options{Search: debugfile.Search{Root: "/srv/image"}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s := c.Snapshot()
	objects := stack.NewObjects(s)
	defer objects.Close()
	for _, walked := range objects.Walk(stack.WalkOptions{}) {
		fmt.Println(walked.Thread.ID, len(walked.Frames))
	}
	for _, m := range c.Missing() {
		fmt.Printf("%s, build ID %x: %v\n", m.Path, m.BuildID, m.Err.Reason())
	}
}
