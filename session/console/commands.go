// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"slices"

	"github.com/clewdev/clew/session"
)

// commands returns all commands, in the order of help.
func commands() []*command {
	return slices.Concat(
		inGroup("Calls and steps", runCommands()),
		inGroup("Breakpoints and watchpoints", breakCommands()),
		inGroup("The stack", stackCommands()),
		inGroup("Values, registers and memory", dataCommands()),
		inGroup("Source and code", sourceCommands()),
		inGroup("The console", otherCommands()),
	)
}

func inGroup(group string, list []*command) []*command {
	for _, cmd := range list {
		cmd.group = group
	}
	return list
}

// stepping returns the run function of a command that steps.
func stepping(step func(*session.Session) (*session.Stop, error)) func(*Console, string) error {
	return func(c *Console, args string) error {
		return c.repeat(args, func() (*session.Stop, error) { return step(c.session) })
	}
}

func runCommands() []*command {
	const times = "N times, or until it stops for another reason."
	return []*command{
		{name: "call", usage: "FUNCTION(ARGUMENT, ...)", once: true, argument: callArgument, run: (*Console).call,
			short: "Call a function under control",
			long: "The call runs until it returns, or stops at a breakpoint, watchpoint or fault.\n" +
				"Arguments are expressions, and \"strings\", which are copied to memory. The result\n" +
				"becomes the last value of the history, $.\n" +
				"While a call is stopped, the new call is nested: it runs on the same stack, and leads\n" +
				"back to the stop when it returns. If it stops itself, \"finish\" or \"abort\" it."},
		{name: "run", aliases: []string{"r"}, usage: "[FUNCTION(ARGUMENT, ...)]", once: true, argument: callArgument, run: (*Console).run,
			short: "Repeat the last call", long: "Or make the call of --call. Memory stays as the last call left it."},
		{name: "start", usage: "[FUNCTION(ARGUMENT, ...)]", once: true, argument: callArgument, run: (*Console).start,
			short: "Call a function and stop at its beginning", long: "Without an argument, repeat the last call, or make the call of --call."},
		{name: "continue", aliases: []string{"c", "fg"}, usage: "[N]", run: (*Console).continueCall,
			short: "Continue to the next stop", long: "With N, the breakpoint of this stop stops again at its N-th crossing."},
		{name: "step", aliases: []string{"s"}, usage: "[N]", run: stepping((*session.Session).StepLine),
			short: "Continue to another source line, and enter functions", long: times},
		{name: "next", aliases: []string{"n"}, usage: "[N]", run: stepping((*session.Session).NextLine),
			short: "Continue to another source line, over calls", long: times},
		{name: "stepi", aliases: []string{"si"}, usage: "[N]", run: stepping((*session.Session).StepInstruction),
			short: "Execute one instruction", long: times + " \"display/i $pc\" shows the next one."},
		{name: "nexti", aliases: []string{"ni"}, usage: "[N]", run: stepping((*session.Session).NextInstruction),
			short: "Execute one instruction, over calls", long: times},
		{name: "finish", aliases: []string{"fin"}, run: (*Console).finish,
			short: "Continue until the selected frame returns", long: "The result is printed and becomes the last value of the history."},
		{name: "until", aliases: []string{"u"}, usage: "[LOCATION]", argument: locationArgument, run: (*Console).until,
			short: "Continue to a later line",
			long:  "Like next, but it does not stop at or before this line again, and so leaves loops.\nWith LOCATION it is advance."},
		{name: "advance", usage: "LOCATION", argument: locationArgument, run: (*Console).advance,
			short: "Continue to a location, or to the end of the function", long: "See \"help break\" for locations."},
		{name: "jump", aliases: []string{"j"}, usage: "LOCATION", once: true, argument: locationArgument, run: (*Console).jump,
			short: "Continue at another place", long: "In the innermost frame, whose stack and registers stay as they are. See \"help break\"\nfor locations."},
		{name: "return", usage: "[EXPRESSION]", once: true, argument: expressionArgument, run: (*Console).returnCommand,
			short: "Make the selected frame return without running its rest", long: "EXPRESSION is its result. Nothing runs until \"continue\" or a step."},
		{name: "kill", aliases: []string{"k"}, once: true, run: (*Console).kill,
			short: "Abort the call", long: "Its changes to memory stay; its stack is dropped. Calls that are nested in it end too."},
		{name: "abort", once: true, run: (*Console).abort, short: "Abort the innermost call", long: "Its changes to memory stay; its stack is dropped. A nested call leads back to the stop at\n" +
			"which it was made. Otherwise abort does what kill does."},
	}
}

func breakCommands() []*command {
	const locations = "A location is a function (fib), a line (fib.c:3, 3, +1), or *ADDRESS (*fib+4, *$pc).\n" +
		"A condition is an expression of C over variables, registers and memory."
	return []*command{
		{name: "break", aliases: []string{"b", "br", "bre", "brea"}, usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).breakCommand, short: "Set a breakpoint", long: "Without LOCATION, at the next instruction of the selected frame.\n" + locations},
		{name: "tbreak", aliases: []string{"tb"}, usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).tbreak, short: "Set a breakpoint for one stop", long: locations},
		{name: "hbreak", usage: "[LOCATION] [if CONDITION]", once: true, argument: locationArgument,
			run: (*Console).hbreak, short: "Set a breakpoint in a debug register", long: "There are few debug registers, and watchpoints need them too.\n" + locations},
		{name: "watch", aliases: []string{"wa"}, usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).watchCommand, short: "Stop when a value changes",
			long: "The value must be in memory and have 1, 2, 4 or 8 bytes. A watchpoint on a local\nvariable ends with its function; with -l it stays at the address."},
		{name: "rwatch", usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).rwatch, short: "Stop when a value is read", long: "See \"help watch\"."},
		{name: "awatch", usage: "[-l] EXPRESSION [if CONDITION]", once: true, argument: expressionArgument,
			run: (*Console).awatch, short: "Stop when a value is read or written", long: "See \"help watch\"."},
		{name: "condition", usage: "N [CONDITION]", once: true,
			run: (*Console).conditionCommand, short: "Change the condition of a breakpoint", long: "Without CONDITION, remove the condition."},
		{name: "ignore", usage: "N COUNT", once: true,
			run: (*Console).ignoreCommand, short: "Ignore the next crossings of a breakpoint", long: "Only crossings with a true condition count."},
		{name: "commands", usage: "[N]", once: true,
			run: (*Console).commandsCommand, short: "Set the commands of a breakpoint",
			long: "Type the commands, one on each line, then \"end\". If the first is \"silent\", the stop\nitself prints nothing. Without N, they are for the breakpoint that was set last."},
		{name: "delete", aliases: []string{"d"}, usage: "[N...]", once: true,
			run: (*Console).deleteCommand, short: "Delete breakpoints and watchpoints", long: "Without numbers, all. \"delete display N\" deletes displays."},
		{name: "disable", aliases: []string{"dis", "disa"}, usage: "[N...]", once: true,
			run: (*Console).disableCommand, short: "Switch breakpoints off", long: "Without numbers, all. \"disable display N\" switches displays off."},
		{name: "enable", aliases: []string{"en"}, usage: "[N...]", once: true,
			run: (*Console).enableCommand, short: "Switch breakpoints on again", long: "Without numbers, all."},
	}
}

func stackCommands() []*command {
	return []*command{
		{name: "backtrace", aliases: []string{"bt", "where"}, usage: "[N|-N] [full]", run: (*Console).backtrace,
			short: "Print the stack", long: "The N innermost frames, the N outermost with -N, or all; with full also their\nlocal variables."},
		{name: "frame", aliases: []string{"f"}, usage: "[N|function NAME]", run: (*Console).frameCommand,
			short: "Select a frame", long: "Without an argument, print the selected frame."},
		{name: "up", usage: "[N]", run: (*Console).up, short: "Select the caller of this frame", long: "N frames up, at most to the outermost."},
		{name: "down", aliases: []string{"do", "dow"}, usage: "[N]", run: (*Console).down, short: "Select the frame that this one called", long: "N frames down, at most to the innermost."},
	}
}

func dataCommands() []*command {
	return []*command{
		{name: "print", aliases: []string{"p", "inspect"}, usage: "[/F] [EXPRESSION]", argument: expressionArgument, run: (*Console).print,
			short: "Print the value of an expression",
			long: "F is a format: x hexadecimal, d decimal, u unsigned, o octal, t binary, a address,\n" +
				"c character, f floating point, s string, z hexadecimal with leading zeros, r values\n" +
				"of the C++ and Rust libraries as their members.\n" +
				"$1, $2 are printed values, $ the last, $$ the one before it, $rax a register, and\n" +
				"$anything a variable of your own. x = 5 assigns, and f(x) calls a function, also\n" +
				"while a call is stopped: see \"help call\"."},
		{name: "output", usage: "[/F] EXPRESSION", argument: expressionArgument, run: (*Console).output,
			short: "Print a value without a number and an end of line", long: "See \"help print\"; for use in \"commands\"."},
		{name: "printf", usage: "\"FORMAT\", EXPRESSION, ...", argument: expressionArgument, run: (*Console).printfCommand,
			short: "Print values by a format of C", long: "printf \"%s has %d\\n\", name, n"},
		{name: "x", usage: "[/NFU] [ADDRESS]", argument: expressionArgument, run: (*Console).examine,
			short: "Examine memory",
			long: "N units. F is a format of print, or i for instructions and s for strings. U is the\n" +
				"size of a unit: b 1 byte, h 2, w 4, g 8. Without ADDRESS, continue after the last unit."},
		{name: "display", usage: "[/NFU] [EXPRESSION]", once: true, argument: expressionArgument, run: (*Console).displayCommand,
			short: "Show a value at every stop", long: "A format of x (i, s, a size or a number) shows memory. Without EXPRESSION, show all\ndisplays now."},
		{name: "undisplay", usage: "[N...]", once: true, run: (*Console).undisplay, short: "Delete displays", long: "Without numbers, all."},
		{name: "set", usage: "var EXPRESSION", once: true, argument: expressionArgument, run: (*Console).set,
			short: "Assign to a variable, a register or memory", long: "set var n = 3, set $rax = 5, set var *(int *)0x601040 = 1\nset listsize 20 is the number of lines that list prints, or unlimited.\nset unwindonsignal on aborts a nested call at a fault: see \"help call\".\ngdb's set confirm, pagination, height, width, print and style change nothing here."},
		{name: "show", usage: "SETTING", run: (*Console).showCommand,
			short: "Show a setting, the history or the variables of the console",
			long:  "Settings are confirm, directories, height, listsize, pagination and width. show values\nprints the history, show convenience the variables ($n)."},
		{name: "ptype", usage: "EXPRESSION|TYPE", argument: expressionArgument, run: (*Console).ptype,
			short: "Print a type in full", long: "A structure with its fields, a class with its bases, access and methods, an enum of Rust\nwith its variants, a typedef as its target. Classes of the C++ library are not shown:\n\"clew debug --gdb\" shows them."},
		{name: "whatis", usage: "EXPRESSION|TYPE", argument: expressionArgument, run: (*Console).whatis, short: "Print the name of a type"},
	}
}

func sourceCommands() []*command {
	info := &command{name: "info", aliases: []string{"i", "inf"}, usage: "SUBJECT", short: "Show information",
		long: "Subjects can be abbreviated: info b, info reg rip."}
	info.run = func(c *Console, args string) error { return c.dispatch(info, args) }
	info.below = []*command{
		{name: "all-registers", usage: "[NAME...]", argument: registerArgument, run: (*Console).infoAllRegisters, short: "All registers of the selected frame"},
		{name: "args", usage: "[REGEXP]", run: (*Console).infoArguments, short: "Arguments of the selected frame"},
		{name: "breakpoints", aliases: []string{"b", "br"}, usage: "[N...]", run: (*Console).infoBreakpoints, short: "Breakpoints and watchpoints"},
		{name: "display", run: (*Console).infoDisplay, short: "Displays"},
		{name: "frame", aliases: []string{"f"}, usage: "[N]", run: (*Console).infoFrame, short: "The selected frame, or that at level N"},
		{name: "functions", usage: "[REGEXP]", run: (*Console).infoFunctions, short: "Functions"},
		{name: "images", run: (*Console).infoImages, short: "Loaded images"},
		{name: "line", usage: "[LOCATION]", argument: locationArgument, run: (*Console).infoLine, short: "The code of a source line"},
		{name: "locals", usage: "[REGEXP]", run: (*Console).infoLocals, short: "Local variables of the selected frame"},
		{name: "program", run: (*Console).infoProgram, short: "The current call"},
		{name: "registers", aliases: []string{"r"}, usage: "[NAME...]", argument: registerArgument, run: (*Console).infoRegisters, short: "General registers of the selected frame"},
		{name: "sharedlibrary", run: (*Console).infoImages, short: "Loaded images"},
		{name: "signals", run: (*Console).infoSignals, short: "Signals"},
		{name: "source", run: (*Console).infoSource, short: "The current source file"},
		{name: "stack", aliases: []string{"s"}, usage: "[N]", run: (*Console).backtrace, short: "The stack"},
		{name: "symbol", usage: "ADDRESS", argument: expressionArgument, run: (*Console).infoSymbol, short: "The symbol at an address"},
		{name: "types", usage: "[REGEXP]", run: (*Console).infoTypes, short: "Types"},
		{name: "variables", usage: "[REGEXP]", run: (*Console).infoVariables, short: "Variables of files"},
		{name: "watchpoints", run: (*Console).infoWatchpoints, short: "Watchpoints"},
	}
	return []*command{
		{name: "list", aliases: []string{"l"}, usage: "[LOCATION|FIRST,LAST|-]", argument: locationArgument, run: (*Console).listCommand,
			short: "List source lines", long: "Ten lines around a location. Without one, the next ten lines; with -, the previous ten."},
		{name: "disassemble", aliases: []string{"disas"}, usage: "[/sr] [FUNCTION|ADDRESS|START,END|START,+SIZE]", argument: locationArgument,
			run: (*Console).disassemble, short: "Disassemble a function or a range", long: "/s adds source lines, /r bytes. Breakpoints are not visible in the code."},
		info,
	}
}

func otherCommands() []*command {
	return []*command{
		{name: "help", aliases: []string{"h"}, usage: "[COMMAND]", argument: commandArgument, once: true, run: (*Console).help,
			short: "List commands, or explain one", long: "Commands can be abbreviated if only one begins so; b, c, d, f, h, i, k, l, n, p, r, s\nand u always work. An empty line repeats the last command."},
		{name: "source", usage: "FILE", once: true, argument: fileArgument, run: (*Console).sourceCommand,
			short: "Execute the commands in a file", long: "Up to the first that fails."},
		{name: "echo", usage: "TEXT", once: true, run: (*Console).echo, short: "Print a text", long: "\\n ends the line."},
		{name: "quit", aliases: []string{"q", "exit"}, once: true, run: func(*Console, string) error { return ErrQuit },
			short: "End the session", long: "Ctrl-D does the same. A stopped call is aborted."},
	}
}
