// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package rootfs opens files of a watched program: as a process with another root
// directory would, and nothing but files of bytes. To open a device or a FIFO, as
// a program can name any, may do something. It tells files apart, too. It makes no file
// and changes none.
package rootfs

import "errors"

// ErrNotRegular is wrapped by the error of what is a directory, a device or a FIFO.
var ErrNotRegular = errors.New("not a regular file")
