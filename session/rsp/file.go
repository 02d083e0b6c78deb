// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// maxFiles limits the open files of a client.
const maxFiles = 64

// file answers vFile packets (GDB manual, "Host I/O Packets"), for reading only. Without them gdb
// looks for the program on its own machine, and prints that.
func (c *client) file(request string) string {
	name, arguments, _ := strings.Cut(request, ":")
	s := scanner{text: arguments}
	switch name {
	case "setfs":
		return "F0"
	case "open":
		path, ok := s.path()
		s.skip(",")
		flags := s.number()
		s.skip(",")
		s.number() // mode of a new file
		if !ok || !s.end() {
			return fileError(syscall.EINVAL)
		}
		if flags != 0 { // not the protocol's O_RDONLY
			return fileError(syscall.EROFS)
		}
		return c.open(path)
	case "pread":
		descriptor := s.number()
		s.skip(",")
		count := s.number()
		s.skip(",")
		offset := s.number()
		f := c.files[int(descriptor)]
		if !s.end() || f == nil || offset > 1<<62 {
			return fileError(syscall.EBADF)
		}
		b := make([]byte, min(count, packetSize/2-32))
		n, err := f.ReadAt(b, int64(offset))
		if n == 0 && err != nil && !errors.Is(err, io.EOF) {
			return fileError(err)
		}
		return fmt.Sprintf("F%x;%s", n, b[:n])
	case "fstat":
		f := c.files[int(s.number())]
		if !s.end() || f == nil {
			return fileError(syscall.EBADF)
		}
		info, err := f.Stat()
		if err != nil {
			return fileError(err)
		}
		return fmt.Sprintf("F%x;%s", statSize, statBytes(info))
	case "close":
		n := int(s.number())
		f := c.files[n]
		if !s.end() || f == nil {
			return fileError(syscall.EBADF)
		}
		delete(c.files, n)
		f.Close()
		return "F0"
	case "readlink":
		path, ok := s.path()
		if !ok || !s.end() {
			return fileError(syscall.EINVAL)
		}
		target, err := os.Readlink(path)
		if err != nil {
			return fileError(err)
		}
		return fmt.Sprintf("F%x;%s", len(target), target)
	}
	return ""
}

// path parses a path in hexadecimal, up to a comma.
func (s *scanner) path() (string, bool) {
	digits, _, _ := strings.Cut(s.text, ",")
	b, err := hex.DecodeString(digits)
	s.text = s.text[len(digits):]
	return string(b), err == nil && len(b) > 0
}

func (c *client) open(path string) string {
	if len(c.files) >= maxFiles {
		return fileError(syscall.EMFILE)
	}
	// Opening a pipe would wait for its other end.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fileError(err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return fileError(syscall.EACCES)
	}
	n := 1
	for c.files[n] != nil {
		n++
	}
	if c.files == nil {
		c.files = make(map[int]*os.File)
	}
	c.files[n] = f
	return fmt.Sprintf("F%x", n)
}

func (c *client) closeFiles() {
	for _, f := range c.files {
		f.Close()
	}
	c.files = nil
}

// fileError returns an error reply. Most of the protocol's numbers (GDB manual, "Errno Values") are
// those of Linux.
func fileError(err error) string {
	number := syscall.EIO
	errors.As(err, &number)
	if number == syscall.ENAMETOOLONG {
		number = 91
	}
	return fmt.Sprintf("F-1,%x", int(number))
}

// statSize is the size of struct stat in the protocol (GDB manual, "struct stat").
const statSize = 64

// statBytes returns a file's struct stat: big-endian words of four bytes, except size, block size and
// blocks, which have eight. Fields that clients do not use are 0.
func statBytes(info os.FileInfo) []byte {
	b := make([]byte, 0, statSize)
	word := func(v uint64) { b = binary.BigEndian.AppendUint32(b, uint32(v)) }
	long := func(v uint64) { b = binary.BigEndian.AppendUint64(b, v) }
	word(0)                                     // device
	word(0)                                     // inode
	word(0o100000 | uint64(info.Mode().Perm())) // a regular file
	word(1)                                     // links
	word(0)                                     // user
	word(0)                                     // group
	word(0)                                     // device number of a device file
	long(uint64(info.Size()))
	long(4096)
	long(uint64(info.Size()+511) / 512)
	for range 3 { // times of access, modification and change
		word(uint64(info.ModTime().Unix()))
	}
	return b
}
