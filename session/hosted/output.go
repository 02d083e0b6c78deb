// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"io"
)

func (l *Library) outputFunctions() map[string]function {
	character := func(c call) error {
		c.Return(c.Word(0) & 0xff)
		_, err := l.output.Write([]byte{byte(c.Word(0))})
		return err
	}
	// print returns a function that prints by the format in argument n.
	print := func(n int) function {
		return func(c call) error {
			text, err := format(c, n)
			if err != nil {
				return err
			}
			returnInt(c, len(text))
			_, err = l.output.Write(text)
			return err
		}
	}
	// printTo returns sprintf and its variants: argument size is the capacity of the
	// buffer, unless size is 0.
	printTo := func(size, n int) function {
		return func(c call) error {
			text, err := format(c, n)
			if err != nil {
				return err
			}
			returnInt(c, len(text))
			if size > 0 {
				capacity := c.Word(size)
				if capacity == 0 {
					return nil
				}
				text = text[:min(uint64(len(text)), capacity-1)]
			}
			return writeString(c, c.Word(0), string(text))
		}
	}
	return map[string]function{
		"puts": func(c call) error {
			s, err := readString(c, c.Word(0))
			if err != nil {
				return err
			}
			returnInt(c, len(s)+1)
			_, err = io.WriteString(l.output, s+"\n")
			return err
		},
		"putchar": character,
		"write": func(c call) error {
			fd, n := int32(c.Word(0)), c.Word(2)
			if fd != 1 && fd != 2 {
				returnInt(c, -1)
				return nil
			}
			n = min(n, chunk) // a write may be short
			p := make([]byte, n)
			if err := c.ReadMemory(p, c.Word(1)); err != nil {
				return err
			}
			c.Return(n)
			_, err := l.output.Write(p)
			return err
		},
		"printf": print(0), "__printf_chk": print(1),
		"sprintf": printTo(0, 1), "snprintf": printTo(1, 2),
		"__sprintf_chk": printTo(0, 3), "__snprintf_chk": printTo(1, 4),
	}
}
