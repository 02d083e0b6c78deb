// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"
	"strings"
	"sync"
)

// description returns the target description: the registers in XML (GDB manual, "Target Description
// Format") with lldb's additions: encoding, format, DWARF numbers, generic and alternative names, and
// offsets. gdb ignores unknown attributes.
func (r *registers) description() string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n")
	fmt.Fprintf(&b, "<architecture>%s</architecture>\n<osabi>GNU/Linux</osabi>\n", r.architecture)
	feature := ""
	for i := range r.list {
		x := &r.list[i]
		if x.feature != feature {
			if feature != "" {
				b.WriteString("</feature>\n")
			}
			feature = x.feature
			fmt.Fprintf(&b, "<feature name=%q>\n%s", feature, featureTypes()[feature])
		}
		fmt.Fprintf(&b, "<reg name=%q bitsize=\"%d\" type=%q regnum=\"%d\" offset=\"%d\"", x.name, 8*x.size, x.kind, i, x.offset)
		if group := registerGroups[x.group].gdb; group != "" {
			fmt.Fprintf(&b, " group=%q", group)
		}
		encoding, format := x.display()
		fmt.Fprintf(&b, " encoding=%q format=%q group_id=\"%d\"", encoding, format, x.group)
		if x.column >= 0 {
			fmt.Fprintf(&b, " gcc_regnum=\"%d\" ehframe_regnum=\"%d\" dwarf_regnum=\"%d\"", x.column, x.column, x.column)
		}
		if x.generic != "" {
			fmt.Fprintf(&b, " generic=%q", x.generic)
		}
		if x.alias != "" {
			fmt.Fprintf(&b, " altname=%q", x.alias)
		}
		b.WriteString("/>\n")
	}
	if feature != "" {
		b.WriteString("</feature>\n")
	}
	b.WriteString("<groups>")
	for i, group := range registerGroups {
		if i > 0 {
			fmt.Fprintf(&b, "<group id=\"%d\" name=%q/>", i, group.lldb)
		}
	}
	b.WriteString("</groups>\n</target>\n")
	return b.String()
}

// display returns lldb's encoding and format for a register's value.
func (x *register) display() (encoding, format string) {
	if x.size > 8 {
		return "vector", "vector-uint8"
	}
	return "uint", "hex"
}

// featureTypes defines the types with which gdb prints the registers of a feature.
var featureTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		featureCore: flagsType("i386_eflags", "CF 0", "PF 2", "AF 4", "ZF 6", "SF 7", "TF 8", "IF 9", "DF 10", "OF 11",
			"NT 14", "RF 16", "VM 17", "AC 18", "VIF 19", "VIP 20", "ID 21"),
		featureSSE: vectorTypes("vec128", "v8_bfloat16 bfloat16 8", "v8_half ieee_half 8", "v4_float ieee_single 4", "v2_double ieee_double 2",
			"v16_int8 int8 16", "v8_int16 int16 8", "v4_int32 int32 4", "v2_int64 int64 2", "uint128 uint128 1") +
			flagsType("i386_mxcsr", "IE 0", "DE 1", "ZE 2", "OE 3", "UE 4", "PE 5", "DAZ 6", "IM 7", "DM 8", "ZM 9", "OM 10", "UM 11", "PM 12", "FZ 15"),
		featureAVX512: vectorTypes("vec128", "v8_bfloat16 bfloat16 8", "v4_float ieee_single 4", "v2_double ieee_double 2",
			"v16_int8 int8 16", "v8_int16 int16 8", "v4_int32 int32 4", "v2_int64 int64 2", "uint128 uint128 1") +
			"<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n",
		featurePkeys: flagsType("pkru_flags", "AD0 0", "WD0 1", "AD1 2", "WD1 3", "AD2 4", "WD2 5", "AD3 6", "WD3 7"),
		featureARM64Core: flagsType("cpsr_flags", "SP 0", "EL 2-3", "nRW 4", "F 6", "I 7", "A 8", "D 9", "BTYPE 10-11", "SSBS 12",
			"IL 20", "SS 21", "PAN 22", "UAO 23", "DIT 24", "TCO 25", "V 28", "C 29", "Z 30", "N 31"),
		// The field names of gdb's own description: $v0.d.f[1].
		featureARM64FPU: vectorTypes("vnd", "f ieee_double 2", "u uint64 2", "s int64 2") + vectorTypes("vns", "f ieee_single 4", "u uint32 4", "s int32 4") +
			vectorTypes("vnh", "f ieee_half 8", "u uint16 8", "s int16 8") + vectorTypes("vnb", "u uint8 16", "s int8 16") +
			vectorTypes("vnq", "u uint128 1*", "s int128 1*") + vectorTypes("aarch64v", "d vnd 1", "s vns 1", "h vnh 1", "b vnb 1", "q vnq 1"),
	}
})

// flagsType returns a type of flags in four bytes. Each flag is a name and a bit or a range of bits.
func flagsType(id string, flags ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<flags id=%q size=\"4\">", id)
	for _, f := range flags {
		name, bits, _ := strings.Cut(f, " ")
		start, end, ok := strings.Cut(bits, "-")
		if !ok {
			end = start
		}
		fmt.Fprintf(&b, "<field name=%q start=%q end=%q/>", name, start, end)
	}
	b.WriteString("</flags>\n")
	return b.String()
}

// vectorTypes returns a union of vectors. Each is a name, an element type and a number of elements. "1"
// is a plain element, "1*" a vector of one.
func vectorTypes(id string, views ...string) string {
	var b, fields strings.Builder
	for _, v := range views {
		part := strings.Fields(v)
		name, kind := part[0], part[1]
		if part[2] != "1" {
			kind = id + "_" + name
			fmt.Fprintf(&b, "<vector id=%q type=%q count=%q/>", kind, part[1], strings.TrimSuffix(part[2], "*"))
		}
		fmt.Fprintf(&fields, "<field name=%q type=%q/>", name, kind)
	}
	fmt.Fprintf(&b, "<union id=%q>%s</union>\n", id, fields.String())
	return b.String()
}
