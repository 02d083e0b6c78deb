# One instruction of each kind that matters to breakpoints and steps, for
# kinds_test.go: what it leaves in registers and flags goes into the result.
	.text
	.globl kinds, kinds.end, inner, again
	.type kinds, @function
	.macro mix register
	ror x19, x19, 59
	eor x19, x19, \register
	.endm
	.macro mixflags
	mrs x2, nzcv
	mix x2
	.endm
kinds:
	.cfi_startproc
	stp x29, x30, [sp, -48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	mov x29, sp
	stp x19, x20, [sp, 16]
	.cfi_offset 19, -32
	.cfi_offset 20, -24
	mov x19, x0
	mov x20, x0
	# relative to the program counter
	adrp x1, table
	add x1, x1, :lo12:table
	adr x2, 1f
1:	adr x3, 1b
	sub x2, x2, x3
	mix x2
	adrp x2, .
	adr x3, .
	and x3, x3, -4096
	cmp x2, x3
	mixflags
	ldr x2, literal
	mix x2
	ldr w2, literal+8
	mix x2
	ldrsw x2, literal+12
	mix x2
	ldr xzr, literal
	prfm pldl1keep, literal
	ldr s0, literal
	fmov w2, s0
	mix x2
	ldr d0, literal
	fmov x2, d0
	mix x2
	ldr q0, wide
	umov x2, v0.d[1]
	mix x2
	# flags
	adds x2, x19, x20
	mixflags
	ccmp x2, x20, 5, ne
	mixflags
	mrs x3, nzcv
	eor x3, x3, 0xf0000000
	msr nzcv, x3
	mixflags
	# calls
	mov x0, 5
	bl inner
	mix x0
	adr x2, inner
	mov x0, 6
	blr x2
	mix x0
	ldr x30, [x1]
	mov x0, 7
	blr x30
	mix x0
	bl 2f
2:	adr x2, 2b
	sub x2, x30, x2
	mix x2
	# jumps
	b 3f
	udf 0
3:	adr x2, 4f
	br x2
	udf 0
4:	adr x2, 5f
	ret x2
	udf 0
5:	mov x3, 4
6:	mix x3
	sub x3, x3, 1
	cbnz x3, 6b
	cbz x3, 7f
	udf 0
7:	cbz w20, 7b
	mov x3, 3
8:	tbz w3, 0, 9f
	mix x3
9:	subs x3, x3, 1
	b.pl 8b
	b.al 10f
	udf 0
10:	mov x3, 1 << 40
	tbnz x3, 40, 11f
	udf 0
11:	tbz x3, 41, 12f
	udf 0
12:	b.vs 12b
	# system calls
	mov x8, 172	// getpid
	svc 0
	mov x0, 0
	mrs x2, tpidr_el0
	# memory
	sub sp, sp, 64
	.cfi_def_cfa 29, 48
	str x20, [sp]
	mov x3, sp
	mov x4, 5
13:	ldaxr x2, [x3]
	add x2, x2, x4
	stlxr w5, x2, [x3]
	cbnz w5, 13b
	mix x2
14:	ldxr x2, [x3]
	cmp x2, 99
	b.ne 15f
	stxr w5, x4, [x3]
	cbnz w5, 14b
15:	clrex
	mixflags
	stlr x4, [x3]	// in front: gdb 13 takes ldar to stlr for an exclusive sequence
	ldar x2, [x3]
	mix x2
	stp x2, x4, [sp, 16]!
	ldp x5, x6, [sp], -16
	mix x5
	mix x6
	ldr x2, [x3], 8
	str x2, [x3, -8]!
	ldrb w2, [x3, x4, lsl 0]
	mix x2
	dmb ish
	isb
	scvtf d0, x19
	ldr d1, literal
	fadd d0, d0, d1
	fmov x2, d0
	mix x2
	fcmp d0, d1
	mixflags
	ld1 {v2.16b, v3.16b}, [x3]
	eor v2.16b, v2.16b, v3.16b
	umov x2, v2.d[0]
	mix x2
	hint 34		// bti c
	paciasp
	autiasp
	nop
	yield
	mov x0, x19
	mov sp, x29
	ldp x19, x20, [sp, 16]
	ldp x29, x30, [sp], 48
	.cfi_restore 19
	.cfi_restore 20
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa 31, 0
	ret
	.cfi_endproc
	.size kinds, . - kinds
kinds.end:

	.type inner, @function
inner:
	.cfi_startproc
	cbz x0, 1f
	stp x0, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -8
	sub x0, x0, 1
	bl inner
	ldp x2, x30, [sp], 16
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	mul x0, x0, x2
	add x0, x0, 3
	ret
1:	mov x0, 1
	ret
	.cfi_endproc
	.size inner, . - inner

	.type again, @function
again:
	.cfi_startproc
	mov x1, 0
1:	add x1, x1, x0
	subs x0, x0, 1
	b.ne 1b
	mov x0, x1
	ret
	.cfi_endproc
	.size again, . - again

	.section .rodata
	.balign 16
wide:	.quad 1, 0x0102030405060708
literal: .quad 0x4008000000000188
	.long 0x11223344, 0x80000001

	.data
	.balign 16
table:	.quad inner

	.section .note.GNU-stack, "", %progbits
