// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"strings"
)

// help lists the commands, or explains one.
func (c *Console) help(args string) error {
	if args == "" {
		group := ""
		for _, cmd := range commands() {
			if cmd.group != group {
				if group != "" {
					c.printf("\n")
				}
				group = cmd.group
				c.printf("%s:\n", c.palette.Header.Text(group))
			}
			c.printf("  %s -- %s\n", pad(cmd.names(), 18), cmd.short)
		}
		c.printf("\n\"help COMMAND\" explains one. The same names and abbreviations as in gdb.\n")
		return nil
	}
	name, rest := splitCommand(args)
	cmd, err := find(commands(), name, "")
	if err != nil {
		return err
	}
	full := cmd.name
	if rest != "" && len(cmd.below) > 0 {
		name, _ := splitCommand(rest)
		below, err := find(cmd.below, name, cmd.name+" ")
		if err != nil {
			return err
		}
		cmd, full = below, full+" "+below.name
	}
	c.printf("%s.\nUsage: %s\n", cmd.short, strings.TrimRight(full+" "+cmd.usage, " "))
	if len(cmd.aliases) > 0 {
		c.printf("Also: %s\n", strings.Join(cmd.aliases, ", "))
	}
	if cmd.long != "" {
		c.printf("\n%s\n", cmd.long)
	}
	if len(cmd.below) > 0 {
		c.printf("\n")
		for _, below := range cmd.below {
			c.printf("  %s -- %s\n", pad("info "+below.name, 18), below.short)
		}
	}
	return nil
}

// names are a command's name and its shortest alias.
func (cmd *command) names() string {
	if len(cmd.aliases) == 0 {
		return cmd.name
	}
	return cmd.name + ", " + cmd.aliases[0]
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-len(s))) }
