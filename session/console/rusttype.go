// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import "github.com/clewdev/clew/value"

// rust returns a structure or enum of Rust in full.
func (w *typeWriter) rust(t *value.Type, indent string) string {
	return w.structure(t, 1, indent)
}
