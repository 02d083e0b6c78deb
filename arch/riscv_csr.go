// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"strconv"
	"strings"
	"sync"
)

// The columns of RISC-V's control and status registers: the register's number
// plus 4096 (RISC-V psABI, "DWARF register numbers").
const (
	csrFirst = 4096
	csrLast  = csrFirst + csrCount - 1
	csrCount = 4096
)

// csrNames returns the names by register number, "" where there is none and
// "csr" with the number is used. They are laid out on first use: few programs
// meet one.
var csrNames = sync.OnceValue(func() []string {
	names := make([]string, csrCount)
	copy(names, expand(csrRuns))
	return names
})

// csrColumn returns the column of a control and status register.
func csrColumn(name string) (uint64, bool) {
	for n, known := range csrNames() {
		if known == name {
			return csrFirst + uint64(n), true
		}
	}
	digits, found := strings.CutPrefix(name, "csr")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 12)
	if err != nil || csrNames()[n] != "" || strconv.FormatUint(n, 10) != digits {
		return 0, false
	}
	return csrFirst + n, true
}

// csrRuns are the registers GNU readelf 2.40 has names for, by number: those of
// the RISC-V privileged specification up to 1.12 and of its extensions.
var csrRuns = []run{
	{0x000, "ustatus fflags frm fcsr uie utvec"},
	{0x008, "vstart vxsat vxrm"},
	{0x00f, "vcsr"},
	{0x015, "seed"},
	{0x040, "uscratch uepc ucause utval uip"},
	{0x100, "sstatus"},
	{0x102, "sedeleg sideleg sie stvec scounteren"},
	{0x10a, "senvcfg"},
	{0x10c, "sstateen[0-3]"},
	{0x114, "sieh"},
	{0x140, "sscratch sepc scause stval sip"},
	{0x14d, "stimecmp"},
	{0x150, "siselect sireg"},
	{0x154, "siph"},
	{0x15c, "stopei stimecmph"},
	{0x180, "satp"},
	{0x200, "vsstatus"},
	{0x204, "vsie vstvec"},
	{0x214, "vsieh"},
	{0x240, "vsscratch vsepc vscause vstval vsip"},
	{0x24d, "vstimecmp"},
	{0x250, "vsiselect vsireg"},
	{0x254, "vsiph"},
	{0x25c, "vstopei vstimecmph"},
	{0x280, "vsatp"},
	{0x300, "mstatus misa medeleg mideleg mie mtvec mcounteren"},
	{0x308, "mvien mvip menvcfg"},
	{0x30c, "mstateen[0-3] mstatush"},
	{0x313, "midelegh mieh"},
	{0x318, "mvienh mviph menvcfgh"},
	{0x31c, "mstateen[0-3]h mcountinhibit mscounteren mhcounteren mhpmevent[3-31] mscratch mepc mcause mtval mip"},
	{0x34a, "mtinst mtval2"},
	{0x350, "miselect mireg"},
	{0x354, "miph"},
	{0x35c, "mtopei"},
	{0x380, "mbase mbound mibase mibound mdbase mdbound"},
	{0x3a0, "pmpcfg[0-15] pmpaddr[0-63]"},
	{0x5a8, "scontext"},
	{0x600, "hstatus"},
	{0x602, "hedeleg hideleg hie htimedelta hcounteren hgeie hvien hvictl henvcfg"},
	{0x60c, "hstateen[0-3]"},
	{0x613, "hidelegh"},
	{0x615, "htimedeltah"},
	{0x618, "hvienh"},
	{0x61a, "henvcfgh"},
	{0x61c, "hstateen[0-3]h"},
	{0x643, "htval hip hvip hviprio1 hviprio2"},
	{0x64a, "htinst"},
	{0x655, "hviph hviprio1h hviprio2h"},
	{0x680, "hgatp"},
	{0x6a8, "hcontext"},
	{0x723, "mhpmevent[3-31]h"},
	{0x747, "mseccfg"},
	{0x757, "mseccfgh"},
	{0x7a0, "tselect tdata[1-3] tinfo tcontrol"},
	{0x7a8, "mcontext"},
	{0x7aa, "mscontext"},
	{0x7b0, "dcsr dpc dscratch0 dscratch1"},
	{0xb00, "mcycle"},
	{0xb02, "minstret mhpmcounter[3-31]"},
	{0xb80, "mcycleh"},
	{0xb82, "minstreth mhpmcounter[3-31]h"},
	{0xc00, "cycle time instret hpmcounter[3-31] vl vtype vlenb"},
	{0xc80, "cycleh timeh instreth hpmcounter[3-31]h"},
	{0xda0, "scountovf"},
	{0xdb0, "stopi"},
	{0xe12, "hgeip"},
	{0xeb0, "vstopi"},
	{0xf11, "mvendorid marchid mimpid mhartid mconfigptr"},
	{0xfb0, "mtopi"},
}
