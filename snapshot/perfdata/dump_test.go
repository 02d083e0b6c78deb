// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// dumper writes records in the form of perf report -D: a line for each record and lines with
// its content, without the bytes and without perf's own findings.
type dumper struct {
	bytes.Buffer
	r    *perfdata.Reader
	base int64 // where perf begins to count offsets
}

// one writes a record in the form of dump_event and the functions perf_event__fprintf_* of
// tools/perf/util.
func (d *dumper) one(rec *perfdata.Record) {
	d.head(rec)
	fmt.Fprintf(d, "%s [%#x]: PERF_RECORD_%s", hex(uint64(rec.Offset-d.base)), len(rec.Raw), dumpName(rec.Type))
	d.body(rec)
	d.WriteByte('\n')
	if s, ok := rec.Body.(*perfdata.Sample); ok {
		d.sample(rec, s)
	}
}

func dumpName(t perfdata.Type) string {
	if t == perfdata.TypeHeaderAttr {
		return "ATTR"
	}
	return t.String()
}

// hex formats like C's %#x, which writes 0 without a prefix.
func hex(v uint64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", v)
}

// head writes processor and time.
func (d *dumper) head(rec *perfdata.Record) {
	attributes := d.r.Attributes()
	if rec.Type == perfdata.TypeHeaderAttr {
		// Its event is not known yet.
		attributes = attributes[:len(attributes)-1]
	}
	if len(attributes) == 0 || rec.Type != perfdata.TypeSample && attributes[0].Flags&perfdata.FlagSampleIDAll == 0 {
		d.WriteString("-1 -1 ")
		return
	}
	if attributes[0].SampleType&perfdata.FieldCPU != 0 {
		fmt.Fprintf(d, "%d ", rec.ID.CPU)
	}
	if attributes[0].SampleType&perfdata.FieldTime != 0 {
		fmt.Fprintf(d, "%d ", rec.ID.Time)
	}
}

func (d *dumper) body(rec *perfdata.Record) {
	switch b := rec.Body.(type) {
	case *perfdata.Mmap:
		d.mmap(rec, b)
	case *perfdata.Comm:
		if rec.Misc&perfdata.MiscCommExec != 0 {
			d.WriteString(" exec")
		}
		fmt.Fprintf(d, ": %s:%d/%d", b.Name, b.PID, b.TID)
	case *perfdata.Task:
		fmt.Fprintf(d, "(%d:%d):(%d:%d)", b.PID, b.TID, b.ParentPID, b.ParentTID)
	case *perfdata.Lost:
		if rec.Type == perfdata.TypeLostSamples {
			id := rec.ID.ID
			if rec.ID.Fields&(perfdata.FieldID|perfdata.FieldIdentifier) == 0 {
				id = ^uint64(0) // as perf has it where none is known
			}
			fmt.Fprintf(d, ": id:%d: lost samples :%d", id, b.Count)
		} else {
			fmt.Fprintf(d, ": id:%d: lost:%d", b.ID, b.Count)
		}
	case *perfdata.Namespaces:
		fmt.Fprintf(d, " %d/%d - nr_namespaces: %d\n\t\t[", b.PID, b.TID, len(b.Links))
		for i, l := range b.Links {
			if i == 4 {
				d.WriteString("\n\t\t ")
			}
			end := ", "
			if i == len(b.Links)-1 {
				end = "]"
			}
			names := []string{"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"}
			fmt.Fprintf(d, "%d/%s: %d/%#x%s", i, names[i], l.Device, l.Inode, end)
		}
	case *perfdata.Ksymbol:
		fmt.Fprintf(d, " addr %x len %d type %d flags 0x%x name %s", b.Address, b.Length, b.Kind, map[bool]int{true: 1}[b.Unregister], b.Name)
	case *perfdata.Sample:
		fmt.Fprintf(d, "(IP, %#x): %d/%d: %s period: %d addr: %s", uint16(rec.Misc), rec.ID.PID, rec.ID.TID, hex(b.IP), b.Period, hex(b.Addr))
	}
}

func (d *dumper) mmap(rec *perfdata.Record, b *perfdata.Mmap) {
	fmt.Fprintf(d, " %d/%d: [%s(%s) @ %s", b.PID, b.TID, hex(b.Start), hex(b.Length), hex(b.Offset))
	switch {
	case rec.Type == perfdata.TypeMmap:
		mode := byte('x')
		if rec.Misc&perfdata.MiscMmapData != 0 {
			mode = 'r'
		}
		fmt.Fprintf(d, "]: %c %s", mode, b.Path)
		return
	case b.BuildID != nil:
		fmt.Fprintf(d, " <%x>]: ", b.BuildID)
	default:
		fmt.Fprintf(d, " %02x:%02x %d %d]: ", b.Major, b.Minor, b.Inode, b.InodeGeneration)
	}
	for i, c := range "rwx" {
		if b.Protection>>i&1 == 0 {
			c = '-'
		}
		d.WriteRune(c)
	}
	kind := byte('p')
	if b.Flags&1 != 0 {
		kind = 's'
	}
	fmt.Fprintf(d, "%c %s", kind, b.Path)
}

func (d *dumper) sample(rec *perfdata.Record, s *perfdata.Sample) {
	a := &d.r.Attributes()[rec.ID.Attribute]
	if s.Fields&perfdata.FieldCallchain != 0 {
		fmt.Fprintf(d, "... FP chain: nr:%d\n", len(s.Callchain))
		for i, address := range s.Callchain {
			fmt.Fprintf(d, "..... %2d: %016x\n", i, address)
		}
	}
	d.registers("user", a.RegsUser, &s.UserRegs)
	if s.Fields&perfdata.FieldUserStack != 0 {
		// perf prints the offset of the u64 size of the stack in the record.
		fmt.Fprintf(d, "... ustack: size %d", len(s.UserStack))
		if len(s.UserStack) > 0 {
			offset := uintptr(unsafe.Pointer(unsafe.SliceData(s.UserStack))) - uintptr(unsafe.Pointer(&rec.Raw[0]))
			fmt.Fprintf(d, ", offset 0x%x", offset-8)
		}
		d.WriteByte('\n')
	}
}

// amd64Names are perf's names of the registers by their numbers.
var amd64Names = strings.Fields("AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 R9 R10 R11 R12 R13 R14 R15")

func (d *dumper) registers(which string, mask uint64, set *perfdata.RegisterSet) {
	if set.ABI == perfdata.ABINone {
		return
	}
	abi := map[perfdata.ABI]string{perfdata.ABI32: "32-bit", perfdata.ABI64: "64-bit"}
	fmt.Fprintf(d, "... %s regs: mask %#x ABI %s\n", which, mask, abi[set.ABI])
	values := set.Values
	for i, name := range amd64Names {
		if set.Mask>>i&1 != 0 {
			fmt.Fprintf(d, ".... %-5s 0x%016x\n", name, values[0])
			values = values[1:]
		}
	}
}
