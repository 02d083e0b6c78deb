// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export_test

import (
	"context"
	"fmt"
	"log"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/profile/otlp/export"
)

func Example() {
	p := profile.New("samples")
	main := p.Location(0x1139, []profile.Frame{{Function: "main", Object: "/opt/server", Code: profile.Native}})
	p.Add([]profile.Location{main}, profile.Labels{Process: "server", PID: 4711, TID: 4711}, 1)
	messages, err := otlp.Profiles(p, otlp.Options{})
	if err != nil {
		log.Fatal(err)
	}

	// os.Getenv instead reads the variables OTEL_EXPORTER_OTLP_*.
	noVariables := func(string) string { return "" }
	endpoints, err := export.FromEnvironment(noVariables, "http://collector:4318")
	if err != nil {
		log.Fatal(err)
	}
	// Without Send, curl makes the requests.
	endpoints[export.Profiles].Send = func(_ context.Context, r *export.Request) (*export.Response, error) {
		fmt.Println("POST", r.URL)
		return &export.Response{Status: 200}, nil
	}
	q, err := export.NewQueue(endpoints, export.QueueOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range messages {
		q.Add(export.Profiles, m)
	}
	q.Close(context.Background())
	fmt.Println(q.Stats().Sent, "sent")
	// Output:
	// POST http://collector:4318/v1development/profiles
	// 1 sent
}
