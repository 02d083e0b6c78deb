// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package exchange

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// A stream is a file that one side appends to and the other reads as it grows:
// blocks, each of which starts with its length in 4 bytes, the lowest first. One
// of length 0 is the end.

// maxBlock is the most that a block holds: what the machine writes at once.
const maxBlock = 64 << 10

// Send writes what there is to read to a stream, with its end.
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

// Receive writes what comes in a stream until its end, or until stop is closed.
// That the stream has no more yet is io.EOF.
func Receive(to io.Writer, stream io.Reader, stop <-chan struct{}) error {
	piece := make([]byte, 4+maxBlock)
	var have []byte
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
		have = append(have, piece[:n]...)
		for len(have) >= 4 {
			length := binary.LittleEndian.Uint32(have)
			if length == 0 {
				return nil
			}
			if length > maxBlock {
				return errors.New("exchange: a stream with a block that is too long")
			}
			if uint32(len(have)-4) < length {
				break
			}
			if _, err := to.Write(have[4 : 4+length]); err != nil {
				return err
			}
			have = have[4+length:]
		}
	}
}

// pause is how long to wait before the next look: an answer mostly comes at once,
// and looking takes from whoever makes it.
func pause(idle int) time.Duration {
	return min(time.Duration(idle)*100*time.Microsecond, 3*time.Millisecond)
}
