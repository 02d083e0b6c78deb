// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/session"
)

// locate finds the addresses that a location means.
func (c *Console) locate(location string) ([]uint64, error) {
	addresses, _, err := c.resolve(location)
	return addresses, err
}

// resolve finds the addresses that a location means, also by expressions (*$pc)
// and by lines of the file that was listed last, and how the session would name
// it: "" where that is the address.
func (c *Console) resolve(location string) (addresses []uint64, named string, err error) {
	if text, ok := strings.CutPrefix(location, "*"); ok {
		if a, err := c.address(text); err == nil {
			return []uint64{a}, "", nil
		}
	}
	if n, err := strconv.Atoi(location); err == nil {
		file, line := c.list.file, c.list.around
		if f := c.current(); f != nil {
			file, line = f.Location.File, f.Location.Line
		} else if file == "" {
			if file, line, err = c.firstLine(); err != nil {
				return nil, "", err
			}
		}
		if location[0] == '+' || location[0] == '-' {
			n += line
		}
		location = fmt.Sprintf("%s:%d", file, n)
	}
	addresses, err = c.session.Locate(location)
	if errors.Is(err, session.ErrNotFound) && !strings.ContainsAny(location, ":*+") {
		return nil, "", fmt.Errorf("function %q not defined", location)
	}
	return addresses, location, err
}

var conditionWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\s)if(\s|\()`) })

// cutCondition takes "if n == 3" off a location.
func cutCondition(args string) (location, condition string) {
	at := conditionWord().FindStringIndex(args)
	if at == nil {
		return strings.TrimSpace(args), ""
	}
	condition = strings.TrimSpace(strings.TrimLeft(args[at[0]:], " \t"))
	return strings.TrimSpace(args[:at[0]]), strings.TrimSpace(strings.TrimPrefix(condition, "if"))
}
