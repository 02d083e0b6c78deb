// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"slices"
	"sync"
)

// The groups of commands, in help's order.
const (
	groupRun    = "Calling and going on"
	groupBreak  = "Breakpoints and watchpoints"
	groupStack  = "The stack"
	groupData   = "Values, registers and memory"
	groupSource = "Source and code"
	groupOther  = "The console"
)

// list holds all commands, once they were asked for.
var list struct {
	once     sync.Once
	commands []*command
}

// commands returns all.
func commands() []*command {
	list.once.Do(func() {
		list.commands = slices.Concat(runCommands(), breakCommands(), stackCommands(), dataCommands(), sourceCommands(), otherCommands())
	})
	return list.commands
}

func runCommands() []*command {
	return []*command{
		{name: "call", group: groupRun, usage: "FUNCTION(ARGUMENT, ...)", once: true, argument: callArgument, run: (*Console).call,
			short: "Call a function under control",
			long: "The call goes on until it returns, or to the first breakpoint, watchpoint or fault.\n" +
				"Arguments are expressions and \"strings\", which are put into memory. What the\n" +
				"function returns becomes the last value of the history, $."},
		{name: "run", aliases: []string{"r"}, group: groupRun, usage: "[FUNCTION(ARGUMENT, ...)]", once: true, argument: callArgument, run: (*Console).run,
			short: "Call what was called last again",
			long:  "Or what --call named. Memory is as the last call left it."},
		{name: "start", group: groupRun, usage: "[FUNCTION(ARGUMENT, ...)]", once: true, argument: callArgument, run: (*Console).start,
			short: "Call a function and stop at its beginning",
			long:  "Without an argument what was called last, or what --call named."},
		{name: "continue", aliases: []string{"c", "fg"}, group: groupRun, usage: "[N]", run: (*Console).continueCall,
			short: "Go on to the next stop",
			long:  "With N the breakpoint that stopped it stops again at the N-th time."},
		{name: "step", aliases: []string{"s"}, group: groupRun, usage: "[N]", run: (*Console).step,
			short: "Go on to another source line, into functions",
			long:  "N times, or until something else stops it."},
		{name: "next", aliases: []string{"n"}, group: groupRun, usage: "[N]", run: (*Console).next,
			short: "Go on to another source line, over calls",
			long:  "N times, or until something else stops it."},
		{name: "stepi", aliases: []string{"si"}, group: groupRun, usage: "[N]", run: (*Console).stepInstruction,
			short: "Execute one instruction", long: "N times, or until something else stops it. \"display/i $pc\" shows the next one."},
		{name: "nexti", aliases: []string{"ni"}, group: groupRun, usage: "[N]", run: (*Console).nextInstruction,
			short: "Execute one instruction, over calls", long: "N times, or until something else stops it."},
		{name: "finish", aliases: []string{"fin"}, group: groupRun, run: (*Console).finish,
			short: "Go on until the selected frame returns", long: "What it returns is printed and becomes the last value of the history."},
		{name: "until", aliases: []string{"u"}, group: groupRun, usage: "[LOCATION]", argument: locationArgument, run: (*Console).until,
			short: "Go on to a line after this one",
			long:  "As next, but out of loops: it does not stop before this line again. With LOCATION\nit is advance."},
		{name: "advance", group: groupRun, usage: "LOCATION", argument: locationArgument, run: (*Console).advance,
			short: "Go on to a location, or to the end of the function", long: "See \"help break\" for locations."},
		{name: "kill", aliases: []string{"k"}, group: groupRun, once: true, run: (*Console).kill,
			short: "Leave the call", long: "What it did to memory stays; its stack is forgotten."},
		{name: "abort", group: groupRun, once: true, run: (*Console).kill, short: "Leave the call, as kill does", long: "What it did to memory stays; its stack is forgotten."},
	}
}

func breakCommands() []*command {
	const locations = "A location is a function (fib), a line (fib.c:3, 3, +1), or *ADDRESS (*fib+4, *$pc).\n" +
		"A condition is an expression of C over variables, registers and memory."
	return []*command{
		{name: "break", aliases: []string{"b", "br", "bre", "brea"}, group: groupBreak, usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).breakCommand, short: "Set a breakpoint", long: "Without LOCATION at the next instruction of the selected frame.\n" + locations},
		{name: "tbreak", aliases: []string{"tb"}, group: groupBreak, usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).tbreak, short: "Set a breakpoint for one stop", long: locations},
		{name: "hbreak", group: groupBreak, usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).hbreak, short: "Set a breakpoint in a debug register", long: "There are few registers, and watchpoints need them too.\n" + locations},
		{name: "watch", aliases: []string{"wa"}, group: groupBreak, usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).watchCommand, short: "Stop when a value changes",
			long: "The value is in memory and has 1, 2, 4 or 8 bytes. A watchpoint on a local variable\nends with its function; with -l it stays at the address."},
		{name: "rwatch", group: groupBreak, usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).rwatch, short: "Stop when a value is read", long: "See \"help watch\"."},
		{name: "awatch", group: groupBreak, usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).awatch, short: "Stop when a value is read or written", long: "See \"help watch\"."},
		{name: "condition", group: groupBreak, usage: "N [CONDITION]", once: true, argument: breakpointArgument,
			run: (*Console).conditionCommand, short: "Change the condition of a breakpoint", long: "Without CONDITION, remove the condition."},
		{name: "ignore", group: groupBreak, usage: "N COUNT", once: true, argument: breakpointArgument,
			run: (*Console).ignoreCommand, short: "Pass a breakpoint so many times", long: "Only times at which its condition is true count."},
		{name: "commands", group: groupBreak, usage: "[N]", once: true, argument: breakpointArgument,
			run: (*Console).commandsCommand, short: "Say what to do at a breakpoint",
			long: "Commands follow, one a line, up to \"end\". If the first is \"silent\", the stop itself\nprints nothing. Without N the breakpoint that was set last is meant."},
		{name: "delete", aliases: []string{"d"}, group: groupBreak, usage: "[N...]", once: true, argument: breakpointArgument,
			run: (*Console).deleteCommand, short: "Delete breakpoints and watchpoints", long: "Without numbers all. \"delete display N\" deletes displays."},
		{name: "disable", aliases: []string{"dis", "disa"}, group: groupBreak, usage: "[N...]", once: true, argument: breakpointArgument,
			run: (*Console).disableCommand, short: "Switch breakpoints off", long: "Without numbers all. \"disable display N\" switches displays off."},
		{name: "enable", aliases: []string{"en"}, group: groupBreak, usage: "[N...]", once: true, argument: breakpointArgument,
			run: (*Console).enableCommand, short: "Switch breakpoints on again", long: "Without numbers all."},
	}
}

func stackCommands() []*command {
	return []*command{
		{name: "backtrace", aliases: []string{"bt", "where"}, group: groupStack, usage: "[N|-N] [full]", run: (*Console).backtrace,
			short: "Print the stack", long: "The N innermost frames, the N outermost with -N, or all; with full also their\nlocal variables."},
		{name: "frame", aliases: []string{"f"}, group: groupStack, usage: "[N|function NAME]", run: (*Console).frameCommand,
			short: "Select a frame", long: "Without an argument the selected one is printed."},
		{name: "up", group: groupStack, usage: "[N]", run: (*Console).up, short: "Select the frame that called this one", long: "N frames up, at most to the outermost."},
		{name: "down", aliases: []string{"do", "dow"}, group: groupStack, usage: "[N]", run: (*Console).down, short: "Select the frame that this one called", long: "N frames down, at most to the innermost."},
	}
}

func dataCommands() []*command {
	return []*command{
		{name: "print", aliases: []string{"p", "inspect"}, group: groupData, usage: "[/F] [EXPRESSION]", argument: expressionArgument, run: (*Console).print,
			short: "Print the value of an expression",
			long: "F is a format: x hexadecimal, d decimal, u unsigned, o octal, t binary, a address,\n" +
				"c character, f floating point, s string, z hexadecimal with zeros in front; r shows\n" +
				"values of the libraries of C++ and Rust as their members.\n" +
				"$1, $2 are values printed before, $ the last, $$ the one before it, $rax a register,\n" +
				"$anything a variable of your own. x = 5 assigns."},
		{name: "output", group: groupData, usage: "[/F] EXPRESSION", argument: expressionArgument, run: (*Console).output,
			short: "Print a value without a number and an end of line", long: "See \"help print\"; for use in \"commands\"."},
		{name: "x", group: groupData, usage: "[/NFU] [ADDRESS]", argument: expressionArgument, run: (*Console).examine,
			short: "Examine memory",
			long: "N units: F is a format of print, or i for instructions and s for strings; U the size\n" +
				"of a unit: b 1 byte, h 2, w 4, g 8. Without ADDRESS, after what was shown last."},
		{name: "display", group: groupData, usage: "[/NFU] [EXPRESSION]", once: true, argument: expressionArgument, run: (*Console).displayCommand,
			short: "Show a value at every stop", long: "With a format of x (i, s, a size or a number) memory. Without EXPRESSION all are\nshown now."},
		{name: "undisplay", group: groupData, usage: "[N...]", once: true, run: (*Console).undisplay,
			short: "Show values no more at every stop", long: "Without numbers all."},
		{name: "set", group: groupData, usage: "var EXPRESSION", once: true, argument: expressionArgument, run: (*Console).set,
			short: "Assign to a variable, a register or memory", long: "set var n = 3, set $rax = 5, set var *(int *)0x601040 = 1\ngdb's set confirm, pagination, height, width, print and style change nothing here."},
		{name: "ptype", group: groupData, usage: "EXPRESSION|TYPE", argument: typeArgument, run: (*Console).ptype,
			short: "Print a type in full", long: "Of a structure its fields; of a typedef what it stands for."},
		{name: "whatis", group: groupData, usage: "EXPRESSION|TYPE", argument: typeArgument, run: (*Console).whatis,
			short: "Print the name of a type", long: ""},
	}
}

func sourceCommands() []*command {
	info := &command{name: "info", aliases: []string{"i", "inf"}, group: groupSource, usage: "SUBJECT", short: "Show information",
		long: "An abbreviation of a subject will do: info b, info reg rip."}
	info.run = func(c *Console, args string) error { return c.dispatch(info, args) }
	info.below = []*command{
		{name: "all-registers", usage: "[NAME...]", argument: registerArgument, run: (*Console).infoAllRegisters, short: "All registers of the selected frame"},
		{name: "args", run: (*Console).infoArguments, short: "Arguments of the selected frame"},
		{name: "breakpoints", aliases: []string{"b", "br"}, usage: "[N...]", run: (*Console).infoBreakpoints, short: "Breakpoints and watchpoints"},
		{name: "display", run: (*Console).infoDisplay, short: "What is shown at every stop"},
		{name: "frame", aliases: []string{"f"}, run: (*Console).infoFrame, short: "The selected frame"},
		{name: "functions", usage: "[REGEXP]", run: (*Console).infoFunctions, short: "Functions"},
		{name: "images", run: (*Console).infoImages, short: "What the session has loaded"},
		{name: "line", usage: "[LOCATION]", argument: locationArgument, run: (*Console).infoLine, short: "The code of a source line"},
		{name: "locals", run: (*Console).infoLocals, short: "Local variables of the selected frame"},
		{name: "program", run: (*Console).infoProgram, short: "What is being run"},
		{name: "registers", aliases: []string{"r"}, usage: "[NAME...]", argument: registerArgument, run: (*Console).infoRegisters, short: "General registers of the selected frame"},
		{name: "sharedlibrary", run: (*Console).infoImages, short: "What the session has loaded"},
		{name: "signals", run: (*Console).infoSignals, short: "Signals"},
		{name: "source", run: (*Console).infoSource, short: "The current source file"},
		{name: "stack", aliases: []string{"s"}, usage: "[N]", run: (*Console).backtrace, short: "The stack"},
		{name: "symbol", usage: "ADDRESS", argument: expressionArgument, run: (*Console).infoSymbol, short: "What an address belongs to"},
		{name: "watchpoints", run: (*Console).infoWatchpoints, short: "Watchpoints"},
	}
	return []*command{
		{name: "list", aliases: []string{"l"}, group: groupSource, usage: "[LOCATION|FIRST,LAST|-]", argument: locationArgument, run: (*Console).listCommand,
			short: "List source lines", long: "Ten lines around a location; then, without one, the next ten; with - those before."},
		{name: "disassemble", aliases: []string{"disas"}, group: groupSource, usage: "[/sr] [FUNCTION|ADDRESS|START,END|START,+SIZE]", argument: locationArgument,
			run: (*Console).disassemble, short: "Disassemble a function or a range", long: "/s with source lines, /r with bytes. Breakpoints do not show."},
		info,
	}
}

func otherCommands() []*command {
	return []*command{
		{name: "help", aliases: []string{"h"}, group: groupOther, usage: "[COMMAND]", argument: commandArgument, once: true, run: (*Console).help,
			short: "List commands, or explain one", long: "Commands can be abbreviated: as far as only one begins so, and b, c, d, f, h, i, k, l,\nn, p, r, s, u. An empty line repeats the last command."},
		{name: "source", group: groupOther, usage: "FILE", once: true, argument: fileArgument, run: (*Console).sourceCommand,
			short: "Execute the commands in a file", long: "Up to the first that fails."},
		{name: "echo", group: groupOther, usage: "TEXT", once: true, run: (*Console).echo, short: "Print a text", long: "\\n is the end of a line."},
		{name: "quit", aliases: []string{"q", "exit"}, group: groupOther, once: true, run: func(*Console, string) error { return ErrQuit },
			short: "End the session", long: "Also by Ctrl-D. A call that is stopped is left."},
	}
}
