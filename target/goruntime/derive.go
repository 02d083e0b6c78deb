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

// fields are those of a Layout, by the structure and the name that the runtime gives
// them.
func (l *Layout) fields() map[string]map[string]*uint16 {
	return map[string]map[string]*uint16{
		"runtime.g": {
			"m": &l.M, "sched": &l.Sched, "syscallsp": &l.SyscallSP, "syscallpc": &l.SyscallPC, "syscallbp": &l.SyscallBP,
			"atomicstatus": &l.Status, "goid": &l.ID, "waitsince": &l.WaitSince, "waitreason": &l.WaitReason,
			"lockedm": &l.LockedM, "parentGoid": &l.Parent, "gopc": &l.Creation, "startpc": &l.Function,
		},
		"runtime.gobuf": {"lr": &l.LR, "bp": &l.BP},
		"runtime.m":     {"gsignal": &l.Signal, "procid": &l.Thread, "curg": &l.Current, "alllink": &l.Next},
	}
}

// newer are the fields that came after Go 1.18.
var newer = map[string]bool{"parentGoid": true, "syscallbp": true}

// derive reads the layout from a program's debugging information, and what its
// variables hold.
func derive(f *object.File) (*Layout, error) {
	d, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	l := new(Layout)
	if err := l.readFields(d); err != nil {
		return nil, fmt.Errorf("debugging information: %w", err)
	}
	for name, list := range map[string]*[]string{"runtime.gStatusStrings": &l.States, "runtime.waitReasonStrings": &l.Reasons} {
		if *list, err = stringsOf(f, name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Layout) readFields(d *dwarf.Data) error {
	types := l.fields()
	r := d.Reader()
	for len(types) > 0 {
		e, err := r.Next()
		if e == nil || err != nil {
			return errors.Join(err, errors.New("it does not describe the runtime's structures"))
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if name, _ := e.Val(dwarf.AttrName).(string); name != "runtime" && name != "" {
				r.SkipChildren()
			}
			continue
		case dwarf.TagStructType:
			name, _ := e.Val(dwarf.AttrName).(string)
			fields := types[name]
			if fields == nil {
				break
			}
			t, err := d.Type(e.Offset)
			if err != nil {
				return err
			}
			s, ok := t.(*dwarf.StructType)
			if !ok {
				return fmt.Errorf("%s is no structure", name)
			}
			for _, field := range s.Field {
				if to := fields[field.Name]; to != nil && field.ByteOffset >= 0 && field.ByteOffset < 1<<15 {
					*to = uint16(field.ByteOffset)
					delete(fields, field.Name)
				}
			}
			for field := range fields {
				if !newer[field] {
					return fmt.Errorf("%s has no %s", name, field)
				}
			}
			delete(types, name)
		}
		r.SkipChildren()
	}
	return nil
}

// maxStrings is more than the runtime has states, or reasons to wait, and maxString
// longer than any of their names.
const (
	maxStrings = 256
	maxString  = 128
)

// stringsOf returns what is in a variable that is an array of strings.
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
