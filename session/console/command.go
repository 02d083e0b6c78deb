// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"slices"
	"strings"
)

// command is a command, or a subcommand such as info registers.
type command struct {
	name     string
	aliases  []string // including abbreviations that would be ambiguous
	group    string   // heading in help; "" for subcommands
	usage    string   // after the name
	short    string   // one line
	long     string
	run      func(c *Console, args string) error
	once     bool     // an empty line does not repeat it
	argument argument // for completion
	below    []*command
}

type argument uint8

const (
	noArgument argument = iota
	locationArgument
	expressionArgument
	callArgument
	commandArgument
	fileArgument
	registerArgument
)

// splitCommand splits a line into a command and its arguments: "p/x $rax" is "p" and
// "/x $rax".
func splitCommand(line string) (name, args string) {
	end := 0
	for end < len(line) && (line[end] == '-' || line[end] == '_' ||
		line[end] >= 'a' && line[end] <= 'z' || line[end] >= 'A' && line[end] <= 'Z' || end > 0 && line[end] >= '0' && line[end] <= '9') {
		end++
	}
	return line[:end], strings.TrimSpace(line[end:])
}

// inGDB is the end of messages about commands that only gdb has.
const inGDB = "; \"clew debug --gdb\" starts gdb"

// find finds a command by its name, an alias, or an unambiguous abbreviation. prefix is the
// name of the parent command, for messages.
func find(list []*command, name, prefix string) (*command, error) {
	var found []*command
	for _, cmd := range list {
		if cmd.name == name || slices.Contains(cmd.aliases, name) {
			return cmd, nil
		}
		if strings.HasPrefix(cmd.name, name) {
			found = append(found, cmd)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("undefined %scommand: %q; try \"help%s\"%s", prefix, name, strings.TrimRight(" "+prefix, " "), inGDB)
	}
	return nil, fmt.Errorf("ambiguous %scommand %q: %s", prefix, name, strings.Join(commandNames(found), ", "))
}

// dispatch runs the subcommand of cmd at the start of args.
func (c *Console) dispatch(cmd *command, args string) error {
	name, args := splitCommand(args)
	if name == "" {
		return fmt.Errorf("%s what? One of: %s", cmd.name, strings.Join(commandNames(cmd.below), ", "))
	}
	below, err := find(cmd.below, name, cmd.name+" ")
	if err != nil {
		return err
	}
	return below.run(c, args)
}

// format is the text after a slash: 4xw in x/4xw.
type format struct {
	count  int  // 0 if absent
	zero   bool // the count is 0
	letter byte
	size   byte
	flags  string // all letters, for disassemble
}

// cutFormat splits the arguments of a command into the format and the other text.
func cutFormat(args string) (f format, text string, err error) {
	if !strings.HasPrefix(args, "/") {
		return f, args, nil
	}
	word, text, _ := strings.Cut(args[1:], " ")
	f.zero = strings.HasPrefix(word, "0")
	for i := 0; i < len(word); i++ {
		switch ch := word[i]; {
		case ch >= '0' && ch <= '9':
			if f.count = f.count*10 + int(ch-'0'); f.count > maxCount {
				return f, "", fmt.Errorf("the count exceeds %d", maxCount)
			}
		case ch == '-' && i == 0:
			return f, "", fmt.Errorf("a negative count is not supported%s", inGDB)
		case strings.IndexByte("bhwg", ch) >= 0:
			f.size = ch
			f.flags += string(ch)
		case ch >= 'a' && ch <= 'z':
			f.letter = ch
			f.flags += string(ch)
		default:
			return f, "", fmt.Errorf("undefined output format %q", word[i:])
		}
	}
	f.zero = f.zero && f.count == 0
	return f, strings.TrimSpace(text), nil
}

const maxCount = 1 << 20 // repetitions, frames or bytes

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
			c.printf("  %-18s -- %s\n", cmd.names(), cmd.short)
		}
		c.printf("\n\"help COMMAND\" explains a command. Names and abbreviations are those of gdb.\n")
		return nil
	}
	name, subject := splitCommand(args)
	cmd, err := find(commands(), name, "")
	if err != nil {
		return err
	}
	full := cmd.name
	if subject != "" && len(cmd.below) > 0 {
		name, _ := splitCommand(subject)
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
			c.printf("  %-18s -- %s\n", "info "+below.name, below.short)
		}
	}
	return nil
}

func (cmd *command) names() string {
	return strings.Join(append([]string{cmd.name}, cmd.aliases[:min(len(cmd.aliases), 1)]...), ", ")
}
