// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"net"
	"os"
	"regexp"
	"strconv"
	"sync"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// A relay is a port of the host that is connected to a port of the machine. It serves one
// client.
type relay struct {
	listener net.Listener
	to, from *os.File
	stop     chan struct{}
	done     sync.WaitGroup
}

// newRelay makes the streams of call X, and listens for a client.
func newRelay(root, x string) (*relay, error) {
	r := &relay{stop: make(chan struct{})}
	var err error
	if r.from, err = os.Create(exchange.FromMachine(root, x)); err != nil {
		return nil, err
	}
	if r.to, err = os.Create(exchange.ToMachine(root, x)); err != nil {
		r.from.Close()
		return nil, err
	}
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		r.to.Close()
		r.from.Close()
		return nil, err
	}
	r.done.Go(r.serve)
	return r, nil
}

func (r *relay) serve() {
	client, err := r.listener.Accept()
	if err != nil {
		return
	}
	r.done.Go(func() {
		exchange.Receive(client, r.from, r.stop)
		client.Close()
	})
	exchange.Send(r.to, client)
}

// replace replaces the machine's port in arguments with the relay's.
func (r *relay) replace(args []string, port int) []string {
	number := regexp.MustCompile(`\b` + strconv.Itoa(port) + `\b`)
	own := strconv.Itoa(r.listener.Addr().(*net.TCPAddr).Port)
	replaced := make([]string, len(args))
	for i, word := range args {
		replaced[i] = number.ReplaceAllString(word, own)
	}
	return replaced
}

// close ends the relay, after its client has ended.
func (r *relay) close() {
	r.listener.Close()
	close(r.stop)
	r.done.Wait()
	for _, stream := range []*os.File{r.to, r.from} {
		stream.Close()
		os.Remove(stream.Name()) // the machine has it open and can read on
	}
}
