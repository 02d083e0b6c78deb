// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dap is a server of the Debug Adapter Protocol for debug sessions. With it, VS
// Code and other editors debug generated code.
//
// An editor can launch a program: Launch of [Options] makes a session for it. Or it can
// attach to a [Target] that a running program offers: the program calls its generated code
// through the Target, and the calls stop in the editor.
//
//	server := dap.New(dap.Options{Attach: func() (*dap.Target, error) { return target, nil }})
//	go server.Serve(listener)
//	stop, err := target.Call(function, session.Arguments{Words: []uint64{10}})
//
// A server serves one editor at a time, and refuses a second one with an error. It does not
// offer the parts of the protocol that a session does not have: several threads, stepping
// back, passing signals to the code. Expressions, in the request evaluate as in conditions,
// are those of package value/expression.
//
// An expression in the editor's debug console can call a function while a call is stopped. The call is
// nested: see session.CallNested. If it stops, at a breakpoint or a fault, the response is an error and
// the editor shows the new stop. "Step out" or "continue" finishes the nested call, and the expression
// "abort" ends it. The editor then shows the previous stop again. Hover and watch expressions cannot
// call functions, because editors evaluate them often.
//
// The package opens no listener and no file. A client can read and write all memory of
// the program, and the protocol has no authentication: package socket's listeners admit
// only clients of the program's own user.
package dap
