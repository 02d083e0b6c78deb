// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value_test

import (
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

func init() {
	value.NewPrinter = func(format byte) interface {
		Print(v value.Value) (string, error)
		Text(v value.Value) string
		Argument(v *value.Variable, f value.Frame) string
		Variable(v *value.Variable, f value.Frame) string
	} {
		return &print.Printer{Format: format}
	}
}
