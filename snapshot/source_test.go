// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type namedSource struct {
	Source
	opener string
}

// Open asks the openers that match the name first, and then the others until one knows the
// file.
func TestOpenSource(t *testing.T) {
	defer func(all []Opener) { openers = all }(openers)
	openers = nil
	broken := errors.New("broken")
	byContent := func(kind string) Opener {
		return Opener{Name: kind, Open: func(name string, opts *Options) (Source, error) {
			switch {
			case opts == nil:
				t.Error("no options")
			case strings.HasPrefix(name, kind+".broken"):
				return nil, broken
			case !strings.HasPrefix(name, kind):
				return nil, fmt.Errorf("%s: no %s: %w", name, kind, ErrUnknown)
			}
			return namedSource{opener: kind}, nil
		}}
	}
	Register(byContent("dump"))
	Register(Opener{Name: "process", Live: true, Match: func(name string) bool { return name == "4711" },
		Open: func(string, *Options) (Source, error) { return namedSource{opener: "process"}, nil }})
	Register(byContent("core"))
	for _, tt := range []struct {
		name, opener, message string
		live                  bool
		err                   error
	}{
		{name: "4711", opener: "process", live: true},
		{name: "core.1", opener: "core"},
		{name: "dump.1", opener: "dump"},
		{name: "core.broken", err: broken, message: "broken"},
		{name: "text", err: ErrUnknown, message: "text: no core: not a source of snapshots"},
	} {
		s, err := Open(tt.name, nil)
		if !errors.Is(err, tt.err) || err != nil && err.Error() != tt.message {
			t.Errorf("%s: %v, expected %v", tt.name, err, tt.err)
		}
		if err == nil && s.(namedSource).opener != tt.opener {
			t.Errorf("%s: opened by %s, expected %s", tt.name, s.(namedSource).opener, tt.opener)
		}
		if live := IsLive(tt.name); live != tt.live {
			t.Errorf("%s: live: %t", tt.name, live)
		}
	}
	openers = nil
	if _, err := Open("core.1", nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("no openers: %v", err)
	}
}
