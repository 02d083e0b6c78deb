// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package resource_test

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/record/resource"
)

func Example() {
	labels, err := resource.ParseLabels("deployment.environment.name=test")
	if err != nil {
		fmt.Println(err)
		return
	}
	finder := resource.Finder{Labels: labels}
	for _, a := range finder.Process(otlp.Process{PID: os.Getpid()}) {
		if a.Key == "deployment.environment.name" {
			fmt.Println(a.Key, a.Value)
		}
	}
	// Output:
	// deployment.environment.name test
}
