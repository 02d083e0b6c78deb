// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package hosted_test

import (
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/hosted"
)

// An object file that is loaded with the image among its imports (session.LoadImage) calls
// the functions by their names. A session calls them like any other function.
func Example() {
	library, err := hosted.New(&hosted.Options{Output: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	defer library.Close()
	libc, err := library.Image()
	if err != nil {
		log.Fatal(err)
	}
	defer libc.Close()
	s, err := session.New(&session.Options{Images: []*session.Image{libc}})
	if err != nil {
		fmt.Println(err) // the machine forbids ptrace
		return
	}
	defer s.Close()
	for _, name := range []string{"malloc", "free", "strlen"} {
		function, _ := s.Symbol(name)
		stop, err := s.Call(function, 5)
		if err != nil {
			log.Fatal(err)
		}
		if stop.Err != nil {
			fmt.Println(stop.Err)
			s.Abort()
			continue
		}
		fmt.Println(name, stop.Reason, stop.Result != 0)
	}
	// Output:
	// malloc return true
	// free: 0x5 is not a pointer that malloc returned, or freed already
	// strlen: cannot read memory at 0x5: bad address
}
