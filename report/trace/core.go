// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"

	"github.com/clewdev/clew/snapshot"
)

// Core describes a core, apart from its stacks.
type Core struct {
	Path    string
	Signal  *snapshot.Signal // the reason for the core, or nil
	Missing []MissingFile
	Damage  []string // errors in the core itself
	Advice  string   // how to get the missing files; "" omits it
}

// MissingFile is a file that a core's process had mapped and that could not be found. Frames
// in it can lack names, or a stack ends there.
type MissingFile struct {
	Path    string
	BuildID []byte // nil if the core lacks it
	Address uint64 // the lowest address at which the file was mapped
	Reason  string
}

// Notes returns sentences on damage and missing files. The receiver may be nil.
func (c *Core) Notes() (notes []string) {
	if c == nil {
		return nil
	}
	for _, text := range c.Damage {
		notes = append(notes, "the core: "+text)
	}
	for _, m := range c.Missing {
		text := "missing: " + m.Path
		if m.BuildID != nil {
			text += fmt.Sprintf(", build ID %x", m.BuildID)
		}
		notes = append(notes, text+": "+m.Reason)
	}
	if c.Advice != "" {
		notes = append(notes, c.Advice)
	}
	return notes
}

// heading returns the last part of the heading, after the number of threads.
func (c *Core) heading() string {
	if c.Signal == nil {
		return ""
	}
	return fmt.Sprintf(", thread %d got %v", c.Signal.Thread, c.Signal)
}

type jsonSignal struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Code    int    `json:"code,omitempty"` // si_code
	TID     int    `json:"tid"`
	Address string `json:"address,omitempty"` // of a fault
	Sender  int    `json:"sender,omitempty"`  // PID of the sending process
}

type jsonMissing struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"`
	Address string `json:"address"`
	Error   string `json:"error"`
}

// fill adds the core to the JSON form.
func (c *Core) fill(out *jsonStacks) {
	if c == nil {
		return
	}
	out.Core, out.Damage = c.Path, c.Damage
	if s := c.Signal; s != nil {
		out.Signal = &jsonSignal{Number: s.Number, Name: s.Name(), Code: s.Code, TID: s.Thread, Sender: s.Sender}
		if s.HasAddress {
			out.Signal.Address = fmt.Sprintf("%#x", s.Address)
		}
	}
	for _, m := range c.Missing {
		out.Missing = append(out.Missing, jsonMissing{m.Path, fmt.Sprintf("%x", m.BuildID), fmt.Sprintf("%#x", m.Address), m.Reason})
	}
}
