// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp_test

import (
	"fmt"
	"log"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
)

func Example() {
	p := profile.New("samples")
	main := p.Location(0x1139, []profile.Frame{{Function: "main", Object: "/opt/server", Code: profile.Native}})
	p.Add([]profile.Location{main}, profile.Labels{Process: "server", PID: 4711, TID: 4711}, 3)
	messages, err := otlp.Profiles(p, otlp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// What a collector reads:
	received, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(messages[0])
	if err != nil {
		log.Fatal(err)
	}
	resource := received.ResourceProfiles().At(0)
	name, _ := resource.Resource().Attributes().Get("service.name")
	sample := resource.ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
	fmt.Println(name.Str(), sample.Values().At(0))
	// Output:
	// server 3
}
