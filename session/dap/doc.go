// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dap is a server of the Debug Adapter Protocol over debug sessions: VS
// Code, and every other editor that speaks it, debugs generated code with it.
//
// An editor can launch, which makes a session out of what its user names (the
// Launch of [Options] says how), or attach to a [Target] that a running program
// offers: the program then calls its generated code through the Target, and the
// calls stop in the editor.
//
//	server := dap.New(dap.Options{Attach: func(dap.AttachArguments) (*dap.Target, error) { return target, nil }})
//	go server.Serve(listener)
//	stop, err := target.Call(function, session.Arguments{Words: []uint64{10}})
//
// A server talks to one editor at a time; a second one is told so, and refused.
// What the protocol has and a session has not is not offered: more than one
// thread, stepping back, passing signals on to the code. Functions of the code
// cannot be called from expressions while a call is stopped.
//
// The package opens no listener and no file. A client can read and write all memory of
// the program, and the protocol has no authentication: package socket's listeners admit
// only clients of the program's own user.
package dap
