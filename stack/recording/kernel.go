// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// kernel is what the recording tells of the kernel that ran.
type kernel struct {
	object  *stack.Object // nil before it is needed
	modules map[string]*stack.Object
	symbol  string         // whose address the recording has: "_text", "_stext"
	address uint64         // of it
	dynamic []kernelSymbol // code that came while it was recorded: BPF programs
}

// kernelSymbol is a function of the kernel.
type kernelSymbol struct {
	address, size uint64
	name          string
	module        string // "" for the kernel itself
}

// kernelPath is what the recording calls the kernel.
const kernelPath = "[kernel.kallsyms]"

// mmap takes in a mapping of the kernel. Its own tells where it lay, as it may be
// elsewhere each time it is started.
func (k *kernel) mmap(m *perfdata.Mmap) {
	if symbol, ok := bytes.CutPrefix(m.Path, []byte(kernelPath)); ok && k.symbol == "" && len(symbol) > 0 {
		k.symbol, k.address = string(symbol), m.Offset
	}
}

// maxKsymbols bounds the symbols of code that comes and goes.
const maxKsymbols = 1 << 16

func (k *kernel) ksymbol(s *perfdata.Ksymbol) {
	if s.Unregister || len(s.Name) == 0 || len(k.dynamic) >= maxKsymbols {
		return
	}
	module := "bpf"
	if s.Kind != 1 {
		module = ""
	}
	k.dynamic = append(k.dynamic, kernelSymbol{s.Address, uint64(s.Length), string(s.Name), module})
}

// kernelObject returns the kernel's object.
func (b *builder) kernelObject() *stack.Object {
	k := &b.kernel
	if k.object == nil {
		k.object = b.add(&stack.Object{Name: KernelName, BuildID: b.buildIDs[kernelPath], System: stack.Kernel})
	}
	return k.object
}

// moduleObject returns the object of a module of the kernel.
func (b *builder) moduleObject(name string) *stack.Object {
	k := &b.kernel
	o := k.modules[name]
	if o == nil {
		if k.modules == nil {
			k.modules = make(map[string]*stack.Object)
		}
		o = b.add(&stack.Object{Name: "[" + name + "]", Path: k.object.Path, System: stack.Kernel})
		k.modules[name] = o
	}
	return o
}

// kernelSymbols finds the symbols of addresses of the kernel, which are sorted.
func (b *builder) kernelSymbols(addresses []uint64) []kernelSymbol {
	k := &b.kernel
	found := make([]kernelSymbol, len(addresses))
	list, path, err := b.kallsyms()
	if err != nil {
		if k.object.Err == nil {
			k.object.Err = err
		}
	} else {
		defer list.close()
		k.object.Path = path
		delta := uint64(0)
		if k.symbol != "" {
			if at, ok := list.address(k.symbol); ok {
				delta = k.address - at
			}
		}
		found = list.find(addresses, delta)
	}
	for _, s := range k.dynamic {
		at := sort.Search(len(addresses), func(i int) bool { return addresses[i] >= s.address })
		for ; at < len(addresses) && addresses[at]-s.address < s.size; at++ {
			if found[at].name == "" || found[at].address < s.address {
				found[at] = s
			}
		}
	}
	return found
}

// kallsyms opens the kernel's symbols: those that perf has kept for the build ID
// of the recording, else those of the running kernel, if it is the same.
func (b *builder) kallsyms() (*kallsyms, string, error) {
	id := b.kernel.object.BuildID
	var failures []error
	for _, path := range b.opts.Search.Kallsyms(id) {
		list, err := openKallsyms(path)
		if err == nil {
			return list, path, nil
		}
		failures = append(failures, err)
	}
	own, err := ownKernelID()
	switch {
	case err != nil:
		failures = append(failures, err)
	case id == "" && (b.rec.Header.OSRelease == "" || b.rec.Header.OSRelease != ownRelease()):
		// perf lists no build ID of what no sample has hit.
		failures = append(failures, errors.New("the recording has no build ID of the kernel"))
	case id != "" && own != id:
		failures = append(failures, fmt.Errorf("the running kernel has build ID %s, the recorded one %s", own, id))
	default:
		path := "/proc/kallsyms"
		data, err := os.ReadFile(path)
		list := &kallsyms{text: data}
		if err == nil && list.hidden() {
			err = fmt.Errorf("%s: the addresses are hidden (sysctl kernel.kptr_restrict)", path)
		}
		if err == nil {
			return list, path, nil
		}
		failures = append(failures, err)
	}
	return nil, "", fmt.Errorf("kernel symbols: %w", errors.Join(failures...))
}

// ownRelease returns the release of the running kernel.
func ownRelease() string {
	data, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(data))
}

// ownKernelID returns the build ID of the running kernel, from its notes (gABI,
// "Note Section").
func ownKernelID() (string, error) {
	const path = "/sys/kernel/notes"
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	word := func(at int) uint64 {
		return uint64(b[at]) | uint64(b[at+1])<<8 | uint64(b[at+2])<<16 | uint64(b[at+3])<<24
	}
	for len(b) >= 12 {
		name, size, kind := word(0), word(4), word(8)
		start := 12 + (name+3)&^3
		end := start + size
		if name > uint64(len(b)) || size > uint64(len(b)) || end > uint64(len(b)) {
			break
		}
		if kind == 3 && string(b[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(b[start:end]), nil
		}
		b = b[min((end+3)&^3, uint64(len(b))):]
	}
	return "", fmt.Errorf("%s: no build ID", path)
}
