// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/object"
)

// fields are the fields of a Layout, by structure and name in the runtime.
func (l *Layout) fields() map[string]map[string]*uint16 {
	return map[string]map[string]*uint16{
		"runtime.g": {
			"m": &l.M, "sched": &l.Sched, "syscallsp": &l.SyscallSP, "syscallpc": &l.SyscallPC, "syscallbp": &l.SyscallBP,
			"atomicstatus": &l.Status, "goid": &l.ID, "waitsince": &l.WaitSince, "waitreason": &l.WaitReason,
			"lockedm": &l.LockedM, "parentGoid": &l.Parent, "gopc": &l.Creation, "startpc": &l.Function,
			"trackingSeq": &l.Runs, "labels": &l.Labels,
		},
		"runtime.gobuf": {"lr": &l.LR, "bp": &l.BP},
		"runtime.m": {
			"gsignal": &l.Signal, "procid": &l.Thread, "curg": &l.Current, "alllink": &l.Next,
			"ncgocall": &l.Calls, "ncgo": &l.ActiveCalls, "incgo": &l.InC, "p": &l.Processor, "syscalltick": &l.Tick,
		},
		"runtime.p": {"syscalltick": &l.ProcessorTick},
	}
}

// isOptional reports whether a version can lack a field: it was added after Go 1.18, or only
// CallReader needs it.
func isOptional(field string) bool {
	switch field {
	case "parentGoid", "syscallbp", "ncgocall", "ncgo", "incgo", "p", "syscalltick":
		return true
	}
	return false
}

// derive reads the layout from a program's debugging information and variables.
func derive(f *object.File) (*Layout, error) {
	r, err := f.DebugReader()
	if r == nil || err != nil {
		return nil, errors.Join(err, errors.New("there is no debugging information"))
	}
	l := new(Layout)
	if err := object.Guard(func() error { return l.readFields(r) }); err != nil {
		return nil, fmt.Errorf("debugging information: %w", err)
	}
	for name, list := range map[string]*[]string{"runtime.gStatusStrings": &l.States, "runtime.waitReasonStrings": &l.Reasons} {
		if *list, err = stringsOf(f, name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Layout) readFields(r *object.DebugReader) error {
	structs := l.fields()
	for _, unit := range r.Units() {
		if err := l.readUnit(r, unit, structs); err != nil {
			return err
		}
		if len(structs) == 0 {
			return nil
		}
	}
	return errors.New("it does not describe the runtime's structures")
}

// readUnit reads the structures that a unit describes, if it is the runtime's unit or
// has no name, and removes them from structs.
func (l *Layout) readUnit(r *object.DebugReader, unit *object.DebugUnit, structs map[string]map[string]*uint16) error {
	if err := r.Seek(unit.First); err != nil {
		return err
	}
	var inside string              // the structure whose members follow
	var missing map[string]*uint16 // of its fields
	depth, within := 0, 0
	var e object.DebugEntry
	for len(structs) > 0 || inside != "" {
		if ok, err := r.NextTo(&e); !ok || err != nil {
			return err
		}
		name, _ := e.Text(dwarf.AttrName)
		switch {
		case depth == 0 && name != "runtime" && name != "":
			return nil
		case e.Tag == 0:
			if depth--; depth == 0 {
				return nil
			}
			if inside == "" || depth > within {
				break
			}
			for field := range missing {
				if !isOptional(field) {
					return fmt.Errorf("%s has no %s", inside, field)
				}
			}
			inside = ""
		case e.Tag == dwarf.TagStructType && inside == "" && structs[name] != nil && e.Children:
			inside, missing, within = name, structs[name], depth
			delete(structs, name)
			if size, ok := e.Number(dwarf.AttrByteSize); ok && name == "runtime.g" && size >= 0 && size < 1<<15 {
				l.Size = uint16(size)
			}
		case e.Tag == dwarf.TagMember && inside != "" && depth == within+1:
			at, ok := e.Number(dwarf.AttrDataMemberLoc)
			if to := missing[name]; to != nil && ok && at >= 0 && at < 1<<15 {
				*to = uint16(at)
				delete(missing, name)
			}
		}
		if e.Children && e.Tag != 0 {
			depth++
		}
	}
	return nil
}

// maxStrings is more than the number of the runtime's states or wait reasons, and
// maxString is longer than any of their names.
const (
	maxStrings = 256
	maxString  = 128
)

// stringsOf returns the strings of a variable that is an array of strings.
func stringsOf(f *object.File, name string) ([]string, error) {
	s, ok := f.Symbol(name)
	if !ok || s.Size > maxStrings*16 || s.Size%16 != 0 {
		return nil, fmt.Errorf("there is no %s", name)
	}
	headers := make([]byte, s.Size)
	if err := f.ReadMemory(headers, s.Address); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list []string
	for ; len(headers) > 0; headers = headers[16:] {
		text := make([]byte, min(binary.LittleEndian.Uint64(headers[8:]), maxString))
		if len(text) > 0 {
			if err := f.ReadMemory(text, binary.LittleEndian.Uint64(headers)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		list = append(list, string(text))
	}
	return list, nil
}
