// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// The program has a session for debuggers in tests, with objects of a C compiler and a Forth
// batch that it publishes itself.
//
//	program [-wait] ADDRESS STEP...
//
// Each step is "load FILE.o", "forth FILE.fth", "call FUNCTION NUMBER...",
// "word WORD NUMBER...", "listen", or "linger" until its input ends. It prints
// its address, and the result of each call.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/rsp"
	"github.com/clewdev/clew/session/socket"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

type program struct {
	session *session.Session
	server  *rsp.Server
	forth   *forth.Session
	address string
}

func run(arguments []string) error {
	var o rsp.Options
	if arguments[0] == "-wait" {
		o.Wait = true
		arguments = arguments[1:]
	}
	if os.Getenv("RSP_LOG") != "" {
		o.Log = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	s, err := session.New(nil)
	if err != nil {
		return err
	}
	defer s.Close()
	server, err := rsp.New(s, &o)
	if err != nil {
		return err
	}
	p := program{session: s, server: server, address: arguments[0]}
	for _, step := range arguments[1:] {
		if err := p.step(strings.Fields(step)); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return server.Close()
}

func (p *program) step(part []string) error {
	switch part[0] {
	case "listen":
		l, err := socket.Listen(p.address)
		if err != nil {
			return err
		}
		fmt.Println("listening", l.Address())
		go p.server.Serve(l)
	case "load":
		f, err := object.Open(part[1])
		if err != nil {
			return err
		}
		i, err := session.LoadImage(nil, f)
		if err != nil {
			return err
		}
		return p.session.AddImage(i)
	case "forth":
		source, err := os.ReadFile(part[1])
		if err != nil {
			return err
		}
		compiled, err := forth.Compile(part[1], source, &forth.Options{Entry: true})
		if err != nil {
			return err
		}
		if p.forth, err = forth.Load(compiled, nil); err != nil {
			return err
		}
		i, err := session.NewImage(p.forth.Code())
		if err != nil {
			return err
		}
		return p.session.AddImage(i)
	case "call", "word":
		return p.call(part)
	case "linger":
		io.Copy(io.Discard, os.Stdin)
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

func (p *program) call(part []string) error {
	var a session.Arguments
	var function uint64
	var numbers []int64
	for _, text := range part[2:] {
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return err
		}
		numbers = append(numbers, n)
		a.Words = append(a.Words, uint64(n))
	}
	if part[0] == "word" {
		var words [2]uint64
		var err error
		if function, words, err = p.forth.Enter(part[1], numbers...); err != nil {
			return err
		}
		a.Words = words[:]
	} else {
		var ok bool
		if function, ok = p.session.Symbol(part[1]); !ok {
			return fmt.Errorf("no function %s", part[1])
		}
	}
	stop, err := p.server.Call(function, a)
	if err != nil {
		return err
	}
	if part[0] == "word" {
		left, err := p.forth.Leave()
		fmt.Println(part[1], "left", left, err)
		return nil
	}
	if stop.Reason == session.Returned {
		fmt.Println(part[1], "returned", int32(stop.Result))
	} else {
		fmt.Println(part[1], "ended:", stop)
		if stop.Reason.Kind() != session.KindExit {
			_, err = p.session.Abort()
		}
	}
	return err
}
