// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/untrusted"
)

// StartError says why a program could not be run, given the error of package os/exec. It returns any other
// error unchanged.
func StartError(err error) error {
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		return fmt.Errorf("could not run %s: %w", missing.Name, missing.Err)
	}
	start, ok := errors.AsType[*fs.PathError](err)
	if !ok || start.Op != "fork/exec" {
		return err
	}
	err = fmt.Errorf("could not run %s: %w", start.Path, start.Err)
	if cause := startCause(start); cause != "" {
		err = fmt.Errorf("%w: %s", err, cause)
	}
	return err
}

// startCause says what is wrong with a program that could not be run, "" if that is unknown.
func startCause(start *fs.PathError) string {
	info, err := os.Stat(start.Path)
	if err != nil {
		return ""
	}
	switch {
	case info.IsDir():
		return "it is a directory, expected a program"
	case errors.Is(start.Err, syscall.EACCES) && info.Mode()&0o111 == 0:
		return fmt.Sprintf("it is not executable; 'chmod +x %s' makes it so", start.Path)
	case errors.Is(start.Err, syscall.EACCES):
		return "this user may not execute it, or its file system is mounted with noexec"
	}
	f, err := untrusted.OpenNamed(start.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var head [256]byte // the kernel reads as many (BINPRM_BUF_SIZE)
	n, _ := io.ReadFull(f, head[:])
	line, script := bytes.CutPrefix(head[:n], []byte("#!"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	program := n >= 20 && string(head[:4]) == elf.ELFMAG
	switch {
	case errors.Is(start.Err, syscall.ENOENT) && script:
		return fmt.Sprintf("its first line names the interpreter %q, which is missing", bytes.TrimLeft(line, " \t"))
	case errors.Is(start.Err, syscall.ENOENT) && program:
		return fmt.Sprintf("it needs a dynamic loader that is missing; 'readelf -l %s' names it", start.Path)
	case errors.Is(start.Err, syscall.ENOEXEC) && program:
		m := arch.Lookup(elf.Machine(byteOrder((*[18]byte)(head[:])).Uint16(head[18:])), elf.Class(head[elf.EI_CLASS]), elf.Data(head[elf.EI_DATA]))
		return fmt.Sprintf("it is an ELF file for %s that this machine cannot run", m.Name)
	case errors.Is(start.Err, syscall.ENOEXEC):
		return fmt.Sprintf("it is neither an ELF program nor a script with #! in its first line; 'sh %s' runs a shell script", start.Path)
	}
	return ""
}
