// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// wire is the client's side of a connection.
type wire struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// connect connects to a server through a pipe.
func connect(t testing.TB, v *Server) *wire {
	t.Helper()
	near, far := net.Pipe()
	go func() {
		v.connection(far)
		far.Close()
	}()
	near.SetDeadline(time.Now().Add(2 * time.Minute)) // of a test that hangs
	t.Cleanup(func() { near.Close() })
	return &wire{t: t, conn: near, r: bufio.NewReader(near)}
}

// connectNext connects after the previous client has detached.
func connectNext(t testing.TB, v *Server) *wire {
	t.Helper()
	for range 10000 {
		w := connect(t, v)
		w.send("?")
		r := w.receive()
		if r != "E."+errBusy.Error() {
			if !strings.HasPrefix(r, "T") {
				t.Errorf("the next client receives %q", r)
			}
			return w
		}
		w.conn.Close()
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the door stays closed")
	return nil
}

// send sends a packet, and reads its acknowledgement.
func (w *wire) send(packet string) {
	w.t.Helper()
	if _, err := w.conn.Write(raw(packet)); err != nil {
		w.t.Fatalf("%q: %v", packet, err)
	}
	// A refused client gets no acknowledgement.
	if b, err := w.r.Peek(1); err != nil || b[0] != '+' && b[0] != '$' {
		w.t.Fatalf("%q was answered by %q, %v", packet, b, err)
	} else if b[0] == '+' {
		w.r.ReadByte()
	}
}

// raw frames a packet as clients do: with escapes only.
func raw(packet string) []byte {
	b := []byte{'$'}
	sum := byte(0)
	for _, x := range []byte(packet) {
		if x == '#' || x == '$' || x == '}' || x == '*' {
			b, sum = append(b, '}', x^0x20), sum+'}'+(x^0x20)
			continue
		}
		b, sum = append(b, x), sum+x
	}
	return fmt.Appendf(b, "#%02x", sum)
}

// receive reads a reply.
func (w *wire) receive() string {
	w.t.Helper()
	text, err := readReply(w.r)
	if err != nil {
		w.t.Fatalf("no reply: %v", err)
	}
	return text
}

// ask sends a packet and returns its reply.
func (w *wire) ask(packet string) string {
	w.t.Helper()
	w.send(packet)
	return w.receive()
}

// expect fails unless the reply to a packet begins with a text.
func (w *wire) expect(packet, reply string) {
	w.t.Helper()
	if got := w.ask(packet); !strings.HasPrefix(got, reply) || reply == "" && got != "" {
		w.t.Errorf("%q was answered by %q, and not by %q", packet, got, reply)
	}
}

// readReply reads a reply as clients do: it undoes escapes and runs.
func readReply(r *bufio.Reader) (string, error) {
	if b, err := r.ReadByte(); err != nil || b != '$' {
		return "", fmt.Errorf("%q instead of a packet, %w", b, err)
	}
	var text []byte
	sum := byte(0)
	for {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if b == '#' {
			break
		}
		sum += b
		if b != '}' && b != '*' {
			text = append(text, b)
			continue
		}
		next, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		sum += next
		if b == '}' {
			text = append(text, next^0x20)
			continue
		}
		if len(text) == 0 || next < ' ' || next > '~' {
			return "", fmt.Errorf("a run of %q", next)
		}
		text = append(text, bytes.Repeat(text[len(text)-1:], int(next)-29)...)
	}
	var check [2]byte
	for i := range check {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		check[i] = b
	}
	if want := fmt.Sprintf("%02x", sum); want != string(check[:]) {
		return "", fmt.Errorf("checksum %s, and the bytes have %s", check, want)
	}
	return string(text), nil
}
