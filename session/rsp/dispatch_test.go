// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/xml"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/clewdev/clew/session"
)

func hexNumber(n uint64) string { return fmt.Sprintf("%x", n) }

// codeAddress returns an address in code of this program.
func codeAddress() uint64 { return uint64(reflect.ValueOf(codeAddress).Pointer()) }

// The answers to packets that need no stop. want is the beginning of the reply; an empty
// want is an empty reply.
func TestPackets(t *testing.T) {
	tests := []struct{ packet, want string }{
		{"", ""},
		{"vMustReplyEmpty", ""},
		{"nonsense", ""},
		{"vCont?", "vCont;c;C;s;S;t;r"},
		{"vCont;", "E16"},
		{"vCont;x", "E16"},
		{"vCont;r1", "E16"},
		{"vCont;c:99", "E16"}, // no action for the thread
		{"Hg0", "OK"},
		{"Hc-1", "OK"},
		{"Hgp1234.1234", "OK"},
		{"Hg99", "E03"},
		{"Hx", "E16"},
		{"T1234", "OK"},
		{"T1", "E03"},
		{"qC", "QC1234"},
		{"qAttached:1234", "1"},
		{"qfThreadInfo", "m1234"},
		{"qsThreadInfo", "l"},
		{"qSymbol::", "OK"},
		{"qXfer:threads:read::0,1000", "l<?xml"},
		{"qXfer:threads:read::0,5", "m<?xml"},
		{"qXfer:threads:read::1000,5", "l"},
		{"qXfer:features:read:target.xml:0,1fff", "m<?xml"},
		{"qXfer:features:read:other.xml:0,1fff", "E00"},
		{"qXfer:exec-file:read:1234:0,fff", "l/"},
		{"qXfer:auxv:read::0,1000", "l"},
		{"qXfer:memory-map:read::0,1000", ""},
		{"qXfer:auxv:read::0", "E16"},
		{"qXfer:auxv", ""},
		{"m10000,4", "00010203"},
		{"m10ffe,4", "feff"}, // as far as it can be read
		{"m11000,4", "E0e"},
		{"mffffffffffffffff,ffffffffffffffff", "E0e"},
		{"m10000", "E16"},
		{"m,", "E16"},
		{"M10010,2:abcd", "OK"},
		{"m10010,2", "abcd"},
		{"M10010,3:abcd", "E16"},
		{"M10010,ffffffffffffffff:abcd", "E16"},
		{"X10010,0:", "OK"},
		{"X10010,2:}*", "OK"},
		{"m10010,2", "7d2a"},
		{"X11010,2:xy", "E0e"},
		{"p0", "0101010101010101"},
		{"p12", "13131313"},
		{"pff", "E16"},
		{"p", "E16"},
		{"P0=1122334455667788", "OK"},
		{"p0", "1122334455667788"},
		{"P12=abababab", "OK"},
		{"p12", "abababab"},
		{"P0=11", "E05"},
		{"P0", "E16"},
		{"P99=1", "E16"},
		{"Gff", "E16"},
		{"qRcmd,68656c70", hexString("monitor help")},
		{"qRcmd,73657373696f6e", hexString("worker 4660, stopped: the program calls nothing")},
		{"qRcmd,78", hexString(`"x" is not known`)},
		{"qRcmd,7", "E16"},
		{"Z0,10000", "E16"},
		{"Z0,10000,1;X3,220127X1,27", "OK"},
		{"Z0,10000,1;X3,2201", "E16"},
		{"Z0,10000,1;Xffffffffffffffff,27", "E16"},
		{"z0,10000,1", "OK"},
		{"z0,10000,1", "OK"},
		{"qHostInfo", "triple:"},
		{"qProcessInfo", "pid:1234;parent-pid:"},
		{"qRegisterInfo0", "name:rax;bitsize:64;offset:0;encoding:uint;format:hex;set:General Purpose Registers;ehframe:0;dwarf:0;"},
		{"qRegisterInfo10", "name:rip;bitsize:64;offset:128;encoding:uint;format:hex;set:General Purpose Registers;ehframe:16;dwarf:16;generic:pc;alt-name:pc;"},
		{"qRegisterInfofff", "E45"},
		{"qMemoryRegionInfo:0", "start:0;size:"},
		{"qThreadStopInfo1234", "T05thread:1234;"},
		{"jThreadsInfo", `[{"tid":4660,"name":"worker","reason":"trace","signal":5,"registers":{"16":"`},
		{"vFile:setfs:0", "F0"},
		{"vFile:open:2f6e6f6e65,0,0", "F-1,2"},
		{"vFile:open:2f70726f632f73656c662f617578,1,0", "F-1,1e"}, // not for writing
		{"vFile:open:2f,0,0", "F-1,d"},                            // no file
		{"vFile:open:zz,0,0", "F-1,16"},
		{"vFile:pread:5,10,0", "F-1,9"},
		{"vFile:unlink:2f", ""},
	}
	w := connect(t, serve(t, newFake(), nil))
	for _, test := range tests {
		w.expect(test.packet, test.want)
	}
}

// The answer to a wrong checksum is "-", and the answer to "-" is the last reply. After
// QStartNoAckMode there are no acknowledgements.
func TestAcknowledgements(t *testing.T) {
	w := connect(t, serve(t, newFake(), nil))
	w.expect("qC", "QC1234")
	w.conn.Write([]byte("$qC#00"))
	if b, _ := w.r.ReadByte(); b != '-' {
		t.Errorf("a wrong checksum was answered by %q", b)
	}
	w.conn.Write([]byte("-"))
	if r := w.receive(); r != "QC1234" {
		t.Errorf("the last reply again: %q", r)
	}
	w.expect("QStartNoAckMode", "OK")
	w.conn.Write(raw("qC"))
	if r := w.receive(); r != "QC1234" {
		t.Errorf("without acknowledgements: %q", r)
	}
}

// Files are read in parts, and closed with the connection.
func TestFile(t *testing.T) {
	w := connect(t, serve(t, newFake(), nil))
	path := hexString("server.go")
	want, err := os.ReadFile("server.go")
	if err != nil {
		t.Fatal(err)
	}
	w.expect("vFile:open:"+path+",0,1c0", "F1")
	w.expect("vFile:fstat:1", "F40;")
	var got string
	for {
		part := w.ask(fmt.Sprintf("vFile:pread:1,400,%x", len(got)))
		_, data, ok := strings.Cut(part, ";")
		if !ok {
			t.Fatal(part)
		}
		if data == "" {
			break
		}
		got += data
	}
	if got != string(want) {
		t.Errorf("%d bytes of %d", len(got), len(want))
	}
	w.expect("vFile:close:1", "F0")
	w.expect("vFile:close:1", "F-1,9")
	for n := range maxFiles {
		w.expect("vFile:open:"+path+",0,0", fmt.Sprintf("F%x", n+1))
	}
	w.expect("vFile:open:"+path+",0,0", "F-1,18")
}

// The packet of all registers has the value of each, and reads return written values.
func TestAllRegisters(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	all := w.ask("g")
	var each string
	for n := range v.registers.list {
		each += w.ask(fmt.Sprintf("p%x", n))
	}
	if all != each || len(all) != 2*v.registers.size {
		t.Errorf("%d digits, and %d one by one", len(all), len(each))
	}
	x := &v.registers.list[len(v.registers.list)-1]
	if x.name != "ymm15h" {
		t.Fatalf("the last register is %s", x.name)
	}
	changed := all[:len(all)-32] + strings.Repeat("5a", 16)
	w.expect("G"+changed, "OK")
	if got := w.ask("g"); got != changed {
		t.Errorf("after writing: %s", got)
	}
	// Only this register was written.
	if got, want := f.traced(), "set:ymm15h="+strings.Repeat("5a", 16); got != want {
		t.Errorf("%s, and not %s", got, want)
	}
}

// The description is XML, and has whole features.
func TestDescription(t *testing.T) {
	type target struct {
		Architecture string `xml:"architecture"`
		Features     []struct {
			Name      string `xml:"name,attr"`
			Registers []struct {
				Name    string `xml:"name,attr"`
				Bits    int    `xml:"bitsize,attr"`
				Offset  int    `xml:"offset,attr"`
				Generic string `xml:"generic,attr"`
			} `xml:"reg"`
		} `xml:"feature"`
	}
	arm := []session.RegisterInfo{}
	for n := range 31 {
		arm = append(arm, session.RegisterInfo{Name: fmt.Sprint("x", n), Size: 8, Column: n})
	}
	for _, name := range []string{"sp", "pc", "cpsr"} {
		arm = append(arm, session.RegisterInfo{Name: name, Size: 8, Column: -1})
	}
	for n := range 32 {
		arm = append(arm, session.RegisterInfo{Name: fmt.Sprint("v", n), Size: 16, Column: 64 + n})
	}
	for _, name := range []string{"fpsr", "fpcr"} {
		arm = append(arm, session.RegisterInfo{Name: name, Size: 4, Column: -1})
	}
	arm = append(arm, session.RegisterInfo{Name: "tpidr", Size: 8, Column: -1})
	wide := newFake().RegisterInfos()
	for n := range 32 {
		if n >= 16 {
			wide = append(wide, session.RegisterInfo{Name: fmt.Sprint("xmm", n), Size: 16, Column: 51 + n})
			wide = append(wide, session.RegisterInfo{Name: fmt.Sprintf("ymm%dh", n), Size: 16, Column: -1})
		}
		wide = append(wide, session.RegisterInfo{Name: fmt.Sprintf("zmm%dh", n), Size: 32, Column: -1})
	}
	for n := range 8 {
		wide = append(wide, session.RegisterInfo{Name: fmt.Sprint("k", n), Size: 8, Column: 118 + n})
	}
	wide = append(wide, session.RegisterInfo{Name: "pkru", Size: 4, Column: -1})
	tests := []struct {
		infos []session.RegisterInfo
		want  string
	}{
		{newFake().RegisterInfos(), "i386:x86-64 org.gnu.gdb.i386.core:40 org.gnu.gdb.i386.sse:17 org.gnu.gdb.i386.linux:1 org.gnu.gdb.i386.segments:2 org.gnu.gdb.i386.avx:16"},
		{wide, "i386:x86-64 org.gnu.gdb.i386.core:40 org.gnu.gdb.i386.sse:17 org.gnu.gdb.i386.linux:1 org.gnu.gdb.i386.segments:2 org.gnu.gdb.i386.avx:16 org.gnu.gdb.i386.avx512:72 org.gnu.gdb.i386.pkeys:1"},
		{arm, "aarch64 org.gnu.gdb.aarch64.core:34 org.gnu.gdb.aarch64.fpu:34 org.gnu.gdb.aarch64.tls:1"},
	}
	for _, test := range tests {
		r := newRegisters(nil, test.infos)
		var got target
		if err := xml.Unmarshal([]byte(r.description()), &got); err != nil {
			t.Fatal(err)
		}
		text := got.Architecture
		offset := 0
		for _, f := range got.Features {
			text += fmt.Sprintf(" %s:%d", f.Name, len(f.Registers))
			for _, x := range f.Registers {
				if x.Offset != offset {
					t.Errorf("%s is at %d, and not at %d", x.Name, x.Offset, offset)
				}
				offset += x.Bits / 8
			}
		}
		if text != test.want {
			t.Errorf("%s\nand not\n%s", text, test.want)
		}
		if r.pc < 0 || r.sp < 0 || r.fp < 0 {
			t.Errorf("pc %d, sp %d, fp %d", r.pc, r.sp, r.fp)
		}
	}
}

// FuzzServer sends any bytes to a server. It neither panics nor hangs, and accepts the next
// client.
func FuzzServer(f *testing.F) {
	for _, s := range []string{
		"$qSupported:multiprocess+;swbreak+#00+$?#3f",
		"$m10000,4#8e$g#67$G00#d7$Z0,10000,1;X3,220127#00",
		"$vCont;c#a8\x03$D#44",
		"$c#63\x03-$k#6b",
		"$QStartNoAckMode#b0+$qXfer:features:read:target.xml:0,ffff#00",
		"$vFile:open:2f70726f632f73656c662f6d617073,0,0#00$vFile:pread:1,100,0#00",
		"$X10000,4:}]}]}]}]#00$vRun#00$R#52",
		"$QThreadSuffixSupported#00$g;thread:1234;#00$jThreadsInfo#00$s#73",
		"$vKill;1#6e",
	} {
		var b []byte
		for packet := range strings.SplitAfterSeq(s, "$") {
			b = append(b, packet...)
		}
		f.Add(b)
	}
	for _, packet := range []string{"?", "g", "qRcmd,73657373696f6e", "Z0,10004,1", "vCont;s:1234", "vCont;r1,2", "C0b", "vCont;C09", "qMemoryRegionInfo:10"} {
		f.Add(append(raw(packet), raw("D")...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		v := serve(t, newFake(atBreak, stepped, faulted, returned), nil)
		w := connect(t, v)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				if _, err := w.r.ReadByte(); err != nil {
					return
				}
			}
		}()
		w.conn.Write(input) // an error is a server that has hung up
		w.conn.Close()
		<-done
		connectNext(t, v)
	})
}
