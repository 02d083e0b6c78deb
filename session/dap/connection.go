// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/printable"
)

const maxMessage = 4 << 20 // bytes

var errFraming = errors.New("the client does not speak the Debug Adapter Protocol")

// connection reads and writes messages. One goroutine reads; any may write.
type connection struct {
	stream io.ReadWriteCloser
	reader *bufio.Reader

	mu       sync.Mutex
	sequence int
	failed   error // of a write; later writes are dropped
}

func newConnection(stream io.ReadWriteCloser) *connection {
	return &connection{stream: stream, reader: bufio.NewReaderSize(stream, 4096)}
}

// read returns the content of the next message. It bounds headers; go-dap's reader does
// not.
func (c *connection) read() ([]byte, error) {
	length := -1
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("%w: a header is longer than %d bytes", errFraming, c.reader.Size())
			}
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || !isToken(name) {
			return nil, fmt.Errorf("%w: header %.40q", errFraming, text)
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return nil, fmt.Errorf("%w: content length %.40q", errFraming, value)
			}
		}
	}
	switch {
	case length < 0:
		return nil, fmt.Errorf("%w: no content length", errFraming)
	case length > maxMessage:
		return nil, fmt.Errorf("a message has %d bytes; at most %d are allowed", length, maxMessage)
	}
	var b bytes.Buffer // grows as bytes arrive, so the length alone allocates nothing
	if n, err := io.CopyN(&b, c.reader, int64(length)); err != nil {
		return nil, fmt.Errorf("a message ends after %d of %d bytes: %w", n, length, io.ErrUnexpectedEOF)
	}
	return b.Bytes(), nil
}

// isToken reports whether a text is a valid name of a header (RFC 9110 §5.6.2). The first
// line of a browser's request, "POST /:80 HTTP/1.1", has no valid name. Without this check
// a web page could send messages in the body of a request to this port.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// write sends a message. After an error it does nothing.
func (c *connection) write(m dap.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return
	}
	c.sequence++
	switch m := m.(type) {
	case dap.ResponseMessage:
		m.GetResponse().Seq = c.sequence
	case dap.EventMessage:
		m.GetEvent().Seq = c.sequence
	}
	content, err := json.Marshal(m)
	if err == nil {
		content = printable.AppendJSONText(nil, content) // a response repeats names that the client sent
		// One write, because some clients do not join parts.
		_, err = c.stream.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(content)), content...))
	}
	c.failed = err
}

func (c *connection) close() error { return c.stream.Close() }

// decode decodes a request. It returns nil for a response or an event. With an error it
// returns the header of the request, if there is one, for the answer.
func decode(content []byte) (dap.RequestMessage, error) {
	m, err := dap.DecodeProtocolMessage(content)
	if r, ok := m.(dap.RequestMessage); ok && err == nil {
		return r, nil
	}
	header := &dap.Request{}
	if json.Unmarshal(content, header) != nil || header.Type != "request" {
		if err == nil {
			return nil, nil
		}
		var kind *dap.DecodeProtocolMessageFieldError
		if errors.As(err, &kind) && kind.FieldName != "type" {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: %w", errFraming, err)
	}
	if err == nil {
		err = errFraming
	}
	return header, err
}

func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// answer returns the header of a response that reports success.
func answer(r dap.RequestMessage) dap.Response {
	q := r.GetRequest()
	return dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: q.Seq, Success: true, Command: q.Command}
}

// refusal returns a response that reports an error.
func refusal(r dap.RequestMessage, err error) dap.Message {
	response := answer(r)
	response.Success = false
	response.Message = err.Error()
	return &dap.ErrorResponse{Response: response, Body: dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: "{text}", Variables: map[string]string{"text": err.Error()}, ShowUser: true}}}
}
