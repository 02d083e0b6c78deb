// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"fmt"
	"strings"
)

// elfNames are the values of e_machine that package debug/elf has no name for: those
// of the registry (gABI, "e_machine") up to 269, and the unofficial ones that binutils
// reads (include/elf/common.h).
var elfNames = map[elf.Machine]string{
	11: "EM_OLD_SPARCV9", 17: "EM_VPP550", 23: "EM_SPU", 182: "EM_INTEL182", 184: "EM_ARM184",
	245: "EM_CEVA", 246: "EM_CEVA_X2", 248: "EM_GRAPHCORE_IPU", 249: "EM_IMG1", 250: "EM_NFP", 251: "EM_VE",
	252: "EM_CSKY", 253: "EM_ARC_COMPACT3_64", 254: "EM_MCS6502", 255: "EM_ARC_COMPACT3", 256: "EM_KVX",
	257: "EM_65816", 259: "EM_KF32", 260: "EM_U16_U8CORE", 261: "EM_TACHYUM", 262: "EM_56800EF", 263: "EM_SBF",
	264: "EM_AIENGINE", 265: "EM_SIMA_MLA", 266: "EM_BANG", 267: "EM_LOONGGPU", 268: "EM_SW64", 269: "EM_AIECTRLCODE",

	0x1057: "EM_AVR_OLD", 0x1059: "EM_MSP430_OLD", 0x1223: "EM_ADAPTEVA_EPIPHANY", 0x2530: "EM_MT",
	0x3330: "EM_CYGNUS_FR30", 0x4157: "EM_WEBASSEMBLY", 0x4688: "EM_XC16X", 0x4def: "EM_S12Z",
	0x5441: "EM_CYGNUS_FRV", 0x5aa5: "EM_DLX", 0x7650: "EM_CYGNUS_D10V", 0x7676: "EM_CYGNUS_D30V",
	0x8217: "EM_IP2K_OLD", 0x9025: "EM_CYGNUS_POWERPC", 0x9041: "EM_CYGNUS_M32R", 0x9080: "EM_CYGNUS_V850",
	0xa390: "EM_S390_OLD", 0xabc7: "EM_XTENSA_OLD", 0xad45: "EM_XSTORMY16", 0xbaab: "EM_MICROBLAZE_OLD",
	0xbeef: "EM_CYGNUS_MN10300", 0xdead: "EM_CYGNUS_MN10200", 0xf00d: "EM_CYGNUS_MEP", 0xfeb0: "EM_M32C_OLD",
	0xfeba: "EM_IQ2000", 0xfebb: "EM_NIOS32", 0xfeed: "EM_MOXIE_OLD",
}

// ELFName returns the name of a value of e_machine, such as "EM_AVR". For a value
// without a name it returns its number, as "e_machine 4000".
func ELFName(machine elf.Machine) string {
	if name, ok := elfNames[machine]; ok {
		return name
	}
	// Package elf calls what it does not know by the name of a lower value.
	if name := machine.String(); !strings.Contains(name, "+") {
		return name
	}
	return fmt.Sprintf("e_machine %d", uint16(machine))
}
