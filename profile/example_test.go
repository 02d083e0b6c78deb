// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile_test

import (
	"log"
	"os"

	"github.com/clewdev/clew/profile"
)

func Example() {
	p := profile.New("samples")
	// Once for each address:
	main := p.Location(0x1139, []profile.Frame{
		{Function: "main", Object: "/opt/server", File: "server.c", Line: 40, Code: profile.Native},
	})
	work := p.Location(0x1204, []profile.Frame{
		{Function: "min", Object: "/opt/server", File: "min.h", Line: 7, Code: profile.Native, Inlined: true},
		{Function: "work", Object: "/opt/server", File: "server.c", Line: 12, Code: profile.Native},
	})
	// For each sample:
	labels := profile.Labels{Process: "server", PID: 4711, TID: 4711}
	p.Add([]profile.Location{work, main}, labels, 1)
	p.Add([]profile.Location{main}, labels, 1)
	p.Add([]profile.Location{work, main}, labels, 1)

	if err := p.Folded(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// main 1
	// main;work;min 2
}
