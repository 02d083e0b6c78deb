// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build http

package main

// #include "program.h"
import "C"

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
)

func init() { serve = serveHTTP }

// serveHTTP prints its address, and serves while C code runs.
func serveHTTP() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() { panic(http.Serve(l, nil)) }()
	runtime.SetBlockProfileRate(1)
	for {
		goOuter(C.SLEEP)
	}
}
