// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp_test

import (
	"fmt"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/rsp"
	"github.com/clewdev/clew/session/socket"
)

func Example() {
	image, err := session.NewHost("arithmetic", session.HostFunction{Name: "double", Call: func(c *session.HostCall) error {
		c.Return(2 * c.Word(0))
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	server, err := rsp.New(s, nil) // with Wait, the call would wait for a debugger
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	l, err := socket.Listen(":0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go server.Serve(l)

	double, _ := s.Symbol("double")
	stop, err := server.Call(double, session.Arguments{Words: []uint64{21}})
	fmt.Println(stop.Reason, stop.Result, err)
	// Output: return 42 <nil>
}
