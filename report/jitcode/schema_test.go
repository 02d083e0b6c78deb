// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jitcode

import (
	"testing"

	"github.com/clewdev/clew/internal/outputtest"
)

func TestSchemas(t *testing.T) {
	outputtest.Schema(t, Schema, Sources{})
	outputtest.Schema(t, FunctionSchema, jsonGeneratedFunction{})
	outputtest.Schema(t, FormerFunctionSchema, jsonFormerFunction{})
}
