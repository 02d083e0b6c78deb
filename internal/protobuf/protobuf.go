// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package protobuf reads the wire format of Protocol Buffers: the fields of a message, and bounds
// for messages that are decoded by others.
package protobuf

import (
	"encoding/binary"
	"fmt"
)

// Each visits the fields of a message up to the first invalid one. It reports whether all are
// valid. Only fields with bytes (wire type LEN) have data that is not nil, and only integers
// (VARINT) have a value.
func Each(b []byte, visit func(number, value uint64, data []byte)) (valid bool) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
		size := uint64(0)
		switch key & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return false
			}
			visit(key>>3, v, nil)
			b = b[n:]
			continue
		case 1:
			size = 8
		case 2:
			v, n := binary.Uvarint(b)
			if n <= 0 || v > uint64(len(b)-n) {
				return false
			}
			visit(key>>3, 0, b[n:n+int(v):n+int(v)])
			b = b[n+int(v):]
			continue
		case 5:
			size = 4
		default:
			return false
		}
		if size > uint64(len(b)) {
			return false
		}
		b = b[size:]
	}
	return true
}

// maxDepth is more than the schemas that Clew reads need.
const maxDepth = 64

// Check returns an error for a message that a decoder may need much memory for: one with more
// than a number of messages in it, or with messages nested more than 64 levels deep, for which a
// decoder may recurse. It knows no schema, and so counts all bytes that could be a message.
func Check(b []byte, messages int) error {
	c := counter{left: messages}
	c.count(b, 0)
	switch {
	case c.deep:
		return fmt.Errorf("messages are nested more than %d levels deep", maxDepth)
	case c.left < 0:
		return fmt.Errorf("more than %d messages", messages)
	}
	return nil
}

type counter struct {
	left int
	deep bool
}

func (c *counter) count(b []byte, depth int) {
	if depth > maxDepth {
		c.deep = true
		return
	}
	Each(b, func(_, _ uint64, data []byte) {
		if data == nil || c.left < 0 || c.deep {
			return
		}
		c.left--
		c.count(data, depth+1)
	})
}
