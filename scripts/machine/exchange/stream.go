// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package exchange

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// A stream is a file that one side appends to while the other reads it. It consists of blocks.
// Each starts with its length in 4 bytes, little-endian. A block of length 0 is the end.

// maxBlock is the maximum length of a block: the machine writes so many bytes at once.
const maxBlock = 64 << 10

// Send copies all data to a stream, and ends the stream.
func Send(stream io.Writer, from io.Reader) error {
	block := make([]byte, 4+maxBlock)
	for {
		n, err := from.Read(block[4:])
		if n > 0 {
			binary.LittleEndian.PutUint32(block, uint32(n))
			if _, err := stream.Write(block[:4+n]); err != nil {
				return err
			}
		}
		if err != nil {
			_, err = stream.Write(make([]byte, 4))
			return err
		}
	}
}

// Receive copies data from a stream until the end of the stream, or until stop is closed.
// io.EOF from the stream means that there is no more data yet.
func Receive(to io.Writer, stream io.Reader, stop <-chan struct{}) error {
	piece := make([]byte, 4+maxBlock)
	var pending []byte
	idle := 0
	for {
		n, err := stream.Read(piece)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			idle++
			select {
			case <-stop:
				return nil
			case <-time.After(pause(idle)):
			}
			continue
		}
		idle = 0
		pending = append(pending, piece[:n]...)
		for len(pending) >= 4 {
			length := binary.LittleEndian.Uint32(pending)
			if length == 0 {
				return nil
			}
			if length > maxBlock {
				return fmt.Errorf("exchange: a block of %d bytes in a stream, at most %d", length, maxBlock)
			}
			if uint32(len(pending)-4) < length {
				break
			}
			if _, err := to.Write(pending[4 : 4+length]); err != nil {
				return err
			}
			pending = pending[4+length:]
		}
	}
}

// pause returns the time until the next read. Answers usually come soon, and reads slow down
// the other side.
func pause(idle int) time.Duration {
	return min(time.Duration(idle)*100*time.Microsecond, 3*time.Millisecond)
}
