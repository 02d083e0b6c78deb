// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package dap

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/internal/testprogram"
)

// inner stops sum(1000, first) in its inner block.
func inner(t *testing.T) (*program, *editor, []dap.StackFrame) {
	p := compile(t, "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, "sum(1000, first)")
	e.at(p, dap.SourceBreakpoint{Line: p.lines["INNER"]})
	e.run()
	_, frames := e.stopped("breakpoint")
	return p, e, frames
}

func TestVariables(t *testing.T) {
	_, e, frames := inner(t)
	scopes := e.scopes(frames[0].Id)
	locals := e.page(dap.VariablesArguments{VariablesReference: scopes["Locals"]})
	if len(locals) != 4 || locals[0].Name != "total" || locals[0].Value != "17" || locals[0].EvaluateName != "total" {
		t.Errorf("%+v", locals)
	}
	for _, v := range locals[1:] {
		if v.Name == "total" && (v.Value != "3000" || v.EvaluateName != "") { // hidden
			t.Errorf("%+v", v)
		}
	}
	list := e.variables(scopes["Arguments"])["list"]
	if list.VariablesReference == 0 || list.MemoryReference == "" || list.Type != "struct list *" {
		t.Fatalf("%+v", list)
	}
	// A pointer to a structure expands to its members, and so on.
	members := e.variables(list.VariablesReference)
	for name, want := range map[string]string{"at": "{x = 1, y = 2}", "name": `"one\000\000\000\000"`, "low": "7", "high": "8"} {
		if name == "name" {
			want = `"one\000\000\000\000"`
		}
		if members[name].Value != want {
			t.Errorf("%s: %+v, want %s", name, members[name], want)
		}
	}
	next := e.variables(members["next"].VariablesReference)
	if at := e.variables(next["at"].VariablesReference); at["y"].Value != "4" || at["y"].EvaluateName == "" {
		t.Errorf("%+v", at)
	} else if r := e.evaluate(at["y"].EvaluateName, "variables", frames[0].Id); r.Result != "4" {
		t.Errorf("%s is %+v", at["y"].EvaluateName, r)
	}
	if next["next"].VariablesReference != 0 {
		t.Errorf("a null pointer expands: %+v", next["next"])
	}
	// Names are demangled, and text is not escaped.
	for text, want := range map[string]string{"greeting": `"grüße"`, "doubling": "<space::twice(int)>"} {
		if r := e.evaluate(text, "watch", frames[0].Id); !strings.HasSuffix(r.Result, want) {
			t.Errorf("%s: %+v, want %s", text, r, want)
		}
	}
	// Arrays are paged.
	numbers := e.variables(scopes["Globals of the file"])["numbers"]
	if numbers.IndexedVariables != 1000 || numbers.Type != "int [1000]" {
		t.Fatalf("%+v", numbers)
	}
	page := e.page(dap.VariablesArguments{VariablesReference: numbers.VariablesReference, Filter: "indexed", Start: 900, Count: 100})
	if len(page) != 100 || page[0].Name != "[900]" || page[0].Value != "901" || page[99].EvaluateName != "numbers[999]" {
		t.Errorf("%d: %+v", len(page), page[0])
	}
	if named := e.page(dap.VariablesArguments{VariablesReference: numbers.VariablesReference, Filter: "named"}); len(named) != 0 {
		t.Errorf("%+v", named)
	}
	hex := e.page(dap.VariablesArguments{VariablesReference: numbers.VariablesReference, Start: 9, Count: 1, Format: &dap.ValueFormat{Hex: true}})
	if len(hex) != 1 || hex[0].Value != "0xa" {
		t.Errorf("%+v", hex)
	}
	registers := e.variables(scopes["Registers"])
	pc := frames[0].InstructionPointerReference
	if !strings.Contains(registers["rip"].Value+registers["pc"].Value, pc) {
		t.Errorf("%+v", registers)
	}
	if vectors := e.variables(scopes["Vector registers"]); len(vectors) < 16 {
		t.Errorf("%d vector registers", len(vectors))
	}
	old := scopes["Locals"]
	e.resume()
	e.ended(0)
	e.refused(&dap.VariablesRequest{Arguments: dap.VariablesArguments{VariablesReference: old}})
	e.refused(&dap.ScopesRequest{Arguments: dap.ScopesArguments{FrameId: frames[0].Id}})
	e.disconnect()
}

func TestSetVariables(t *testing.T) {
	_, e, frames := inner(t)
	scopes := e.scopes(frames[0].Id)
	set := func(reference int, name, value string) string {
		t.Helper()
		return ask[*dap.SetVariableResponse](e, &dap.SetVariableRequest{Arguments: dap.SetVariableArguments{VariablesReference: reference, Name: name, Value: value}}).Body.Value
	}
	if v := set(scopes["Locals"], "total", "40 + 2"); v != "42" {
		t.Error(v)
	}
	if v := set(scopes["Locals"], "scale", "total"); v != "42" {
		t.Error(v)
	}
	list := e.variables(scopes["Arguments"])["list"]
	members := e.variables(list.VariablesReference)
	if v := set(list.VariablesReference, "low", "3"); v != "3" {
		t.Error(v)
	}
	if v := set(members["at"].VariablesReference, "x", "-1"); v != "-1" {
		t.Error(v)
	}
	numbers := e.variables(scopes["Globals of the file"])["numbers"]
	if v := set(numbers.VariablesReference, "[999]", "'a'"); v != "97" {
		t.Error(v)
	}
	if r := e.evaluate("numbers[999] + list->low + list->at.x", "watch", frames[0].Id); r.Result != "99" {
		t.Errorf("%+v", r)
	}
	register := "rbx"
	if _, ok := e.variables(scopes["Registers"])["x19"]; ok {
		register = "x19"
	}
	if v := set(scopes["Registers"], register, "0x77"); v != "119" {
		t.Error(v)
	}
	if r := e.evaluate("$"+register, "watch", frames[0].Id); r.Result != "119" {
		t.Errorf("%+v", r)
	}
	for _, invalid := range []dap.SetVariableArguments{
		{VariablesReference: scopes["Locals"], Name: "nosuch", Value: "1"},
		{VariablesReference: scopes["Locals"], Name: "total", Value: "nosuch"},
		{VariablesReference: numbers.VariablesReference, Name: "[1000]", Value: "1"},
		{VariablesReference: numbers.VariablesReference, Name: "[x]", Value: "1"},
		{VariablesReference: scopes["Registers"], Name: "nosuch", Value: "1"},
		{VariablesReference: list.VariablesReference, Name: "at", Value: "1"},
		{VariablesReference: 7777777, Name: "at", Value: "1"},
	} {
		e.refused(&dap.SetVariableRequest{Arguments: invalid})
	}
	r := ask[*dap.SetExpressionResponse](e, &dap.SetExpressionRequest{Arguments: dap.SetExpressionArguments{Expression: "list->next->at.x", Value: "total + 1", FrameId: frames[0].Id}}).Body
	if r.Value != "43" || r.Type != "int" {
		t.Errorf("%+v", r)
	}
	e.refused(&dap.SetExpressionRequest{Arguments: dap.SetExpressionArguments{Expression: "1", Value: "2", FrameId: frames[0].Id}})
	e.disconnect()
}

func TestEvaluate(t *testing.T) {
	_, e, frames := inner(t)
	id := frames[0].Id
	for _, test := range []struct{ text, context, want string }{
		{"total", "hover", "17"},
		{"*list", "watch", `{next = 0x`},
		{"list->next->at", "watch", "{x = 3, y = 4}"},
		{"p total + 1", "repl", "18"},
		{"$1 * 2", "repl", "36"},
		{"$ + $$", "repl", "54"},
		{"$a = total", "repl", "17"},
		{"$a + 1", "watch", "18"},
		{"set var total = 5", "repl", "5"},
		{"total", "watch", "5"},
		{"struct list", "repl", "struct list"},
		{"sizeof(struct list)", "repl", "32"},
		{"numbers[0]@3", "watch", "{1, 2, 3}"},
		{"sum", "hover", "{int (int, struct list *)} 0x"},
	} {
		if r := e.evaluate(test.text, test.context, id); !strings.HasPrefix(r.Result, test.want) {
			t.Errorf("%s: %+v, want %s", test.text, r, test.want)
		}
	}
	for _, test := range []struct{ text, context, want string }{
		{"nosuch", "watch", `No symbol "nosuch" in current context.`},
		{"total = 7", "hover", "The program cannot be changed here."},
		{"total++", "watch", "The program cannot be changed here."},
		{"fib(3)", "hover", errOften.Error()},
		{"fib(3) + 1", "watch", errOften.Error()},
		{"fib(1.5, 2)", "repl", "Too many arguments in function call."},
		{"*(int *)0", "watch", "Cannot access memory at address 0x0"},
		{"1 +", "repl", "A syntax error in expression, near `'."},
	} {
		if text := e.refused(evaluateRequest(test.text, test.context, id)); text != test.want {
			t.Errorf("%s: %s, want %s", test.text, text, test.want)
		}
	}
	e.refused(evaluateRequest("total", "watch", 123456789))
	if r := e.evaluate("list", "watch", id); r.VariablesReference == 0 || e.variables(r.VariablesReference)["at"].EvaluateName != "(*(list)).at" {
		t.Errorf("%+v", r)
	}
	completions := ask[*dap.CompletionsResponse](e, &dap.CompletionsRequest{Arguments: dap.CompletionsArguments{FrameId: id, Text: "1 + to", Column: 7}}).Body.Targets
	if len(completions) != 1 || completions[0].Label != "total" || completions[0].Start != 5 || completions[0].Length != 2 {
		t.Errorf("%+v", completions)
	}
	if completions = ask[*dap.CompletionsResponse](e, &dap.CompletionsRequest{Arguments: dap.CompletionsArguments{FrameId: id, Text: "fi", Column: 3}}).Body.Targets; len(completions) != 2 {
		t.Errorf("%+v", completions)
	}
	e.resume()
	e.ended(0)
	if text := e.refused(evaluateRequest("fib(3)", "repl", 0)); text != errNoCall.Error() {
		t.Error(text)
	}
	// Globals can be read while no call runs.
	if r := e.evaluate("numbers[1]", "repl", 0); r.Result != "2" {
		t.Errorf("%+v", r)
	}
	e.disconnect()
}

func TestMemory(t *testing.T) {
	_, e, frames := inner(t)
	array := e.evaluate("&numbers[0]", "repl", frames[0].Id)
	read := func(reference string, offset, count int) dap.ReadMemoryResponseBody {
		t.Helper()
		return ask[*dap.ReadMemoryResponse](e, &dap.ReadMemoryRequest{Arguments: dap.ReadMemoryArguments{MemoryReference: reference, Offset: offset, Count: count}}).Body
	}
	bytes := read(array.MemoryReference, 4, 8)
	if b, _ := base64.StdEncoding.DecodeString(bytes.Data); fmt.Sprint(b) != "[2 0 0 0 3 0 0 0]" {
		t.Errorf("%+v: %v", bytes, b)
	}
	n := ask[*dap.WriteMemoryResponse](e, &dap.WriteMemoryRequest{Arguments: dap.WriteMemoryArguments{MemoryReference: array.MemoryReference, Offset: 4, Data: base64.StdEncoding.EncodeToString([]byte{9})}}).Body.BytesWritten
	if r := e.evaluate("numbers[1]", "watch", frames[0].Id); n != 1 || r.Result != "9" {
		t.Errorf("%d bytes, %+v", n, r)
	}
	if unmapped := read("0x10", 0, 16); unmapped.Data != "" || unmapped.UnreadableBytes != 16 {
		t.Errorf("%+v", unmapped)
	}
	if large := read(array.MemoryReference, 0, 1<<40); len(large.Data) > 2*maxMemory {
		t.Errorf("%d bytes", len(large.Data))
	}
	for _, r := range []dap.RequestMessage{
		&dap.ReadMemoryRequest{Arguments: dap.ReadMemoryArguments{MemoryReference: "x", Count: 1}},
		&dap.ReadMemoryRequest{Arguments: dap.ReadMemoryArguments{MemoryReference: "0x10", Count: -1}},
		&dap.WriteMemoryRequest{Arguments: dap.WriteMemoryArguments{MemoryReference: "0x10", Data: "AAAA"}},
		&dap.WriteMemoryRequest{Arguments: dap.WriteMemoryArguments{MemoryReference: "0x10", Data: "AAAA", AllowPartial: true}},
		&dap.WriteMemoryRequest{Arguments: dap.WriteMemoryArguments{MemoryReference: array.MemoryReference, Data: "!"}},
	} {
		e.refused(r)
	}
	e.disconnect()
}

func TestDisassemble(t *testing.T) {
	_, e, frames := inner(t)
	pc := frames[0].InstructionPointerReference
	ask := func(reference string, offset, from, count int) []dap.DisassembledInstruction {
		t.Helper()
		list := ask[*dap.DisassembleResponse](e, &dap.DisassembleRequest{Arguments: dap.DisassembleArguments{MemoryReference: reference, Offset: offset, InstructionOffset: from, InstructionCount: count, ResolveSymbols: true}}).Body.Instructions
		if len(list) != count {
			t.Errorf("%d instructions, want %d", len(list), count)
		}
		address := uint64(0)
		for _, i := range list {
			a, err := strconv.ParseUint(i.Address, 0, 64)
			if err != nil || a <= address || i.Instruction == "" {
				t.Errorf("%+v after %#x", i, address)
			}
			address = a
		}
		return list
	}
	// VS Code asks for equally many instructions before and after the program counter.
	list := ask(pc, 0, -50, 100)
	if list[50].Address != pc || list[50].Line == 0 || list[50].Location == nil {
		t.Errorf("%+v", list[50])
	}
	whole := ask(pc, 0, -200, 400)
	named := 0
	for _, i := range whole {
		if i.Symbol != "" {
			named++
		}
	}
	if whole[200].Address != pc || named < 3 {
		t.Errorf("%+v, %d symbols", whole[200], named)
	}
	if after := ask(pc, 0, 3, 2); after[0].Address != list[53].Address {
		t.Errorf("%+v, want %+v", after, list[53])
	}
	if before := ask(pc, 0, -10, 5); before[4].Address != list[44].Address {
		t.Errorf("%+v, want %+v", before, list[44])
	}
	for _, i := range ask("0x10", 0, -4, 8) {
		if i.Instruction != "(no code)" {
			t.Errorf("%+v", i)
		}
	}
	ask("0xffffffffffffff00", 0, 0, 8)
	ask(pc, 0, 0, 0)
	for _, a := range []dap.DisassembleArguments{{MemoryReference: "x"}, {MemoryReference: pc, InstructionCount: 1 << 30}, {MemoryReference: pc, InstructionCount: -1}, {MemoryReference: pc, InstructionOffset: -1 << 30}} {
		e.refused(&dap.DisassembleRequest{Arguments: a})
	}
	e.disconnect()
}

// A frame of a library at a load bias has its variables, including those of nested blocks.
func TestBiasedFrame(t *testing.T) {
	library := testprogram.Build(t, "biased.c", "-shared", "-nostdlib", "-DLIBRARY", "-O0", "-g", "-gdwarf-5", "-fPIC")
	between := testprogram.MapLibrary(t, library, "between")
	p := compileSource(t, testprogram.Path("programs/biased.c"), "-O0")
	e := connect(t, Options{Launch: load})
	e.launch(p, fmt.Sprintf("enter(%d, 5)", between))
	e.at(p, dap.SourceBreakpoint{Line: p.lines["BACK"]})
	e.run()
	_, frames := e.stopped("breakpoint")
	if len(frames) != 3 || frames[1].Name != "between" || frames[1].Line != p.lines["NESTED"] || frames[2].Name != "enter" {
		t.Fatalf("%+v", frames)
	}
	scopes := e.scopes(frames[1].Id)
	var locals []string
	for _, v := range e.page(dap.VariablesArguments{VariablesReference: scopes["Locals"]}) {
		locals = append(locals, v.Name+" = "+v.Value)
	}
	if got := strings.Join(locals, ", "); got != "total = 12, inner = 11, total = 10" {
		t.Errorf("locals: %s", got)
	}
	if v := e.variables(scopes["Arguments"])["n"]; v.Value != "5" {
		t.Errorf("%+v", v)
	}
	if v := e.variables(scopes["Globals of the file"])["file_global"]; v.Value != "70" {
		t.Errorf("%+v", v)
	}
	for text, want := range map[string]string{"total": "12", "inner + n": "16", "file_global": "70"} {
		if r := e.evaluate(text, "watch", frames[1].Id); r.Result != want {
			t.Errorf("%s is %+v, want %s", text, r, want)
		}
	}
	body := ask[*dap.CompletionsResponse](e, &dap.CompletionsRequest{Arguments: dap.CompletionsArguments{FrameId: frames[1].Id, Text: "file_", Column: 6}}).Body
	if len(body.Targets) != 1 || body.Targets[0].Label != "file_global" {
		t.Errorf("%+v", body)
	}
	e.resume()
	e.ended(0)
	e.disconnect()
}
