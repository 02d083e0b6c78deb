// Every relocation of AAELF64 that gas has an operator for, but for those that
// linkers rewrite. What the last one refers to is global: GNU ld 2.40 forgets the
// addend that gas gives a local symbol there.
	.text
	.globl	test
test:
	movz	x0, #:abs_g0:small
	movz	x0, #:abs_g1:v
	movk	x0, #:abs_g0_nc:v
	movz	x0, #:abs_g2:v
	movk	x0, #:abs_g1_nc:v
	movz	x0, #:abs_g3:v
	movk	x0, #:abs_g2_nc:v
	movz	x0, #:abs_g0_s:small
	movz	x0, #:abs_g0_s:negative
	movz	x0, #:abs_g1_s:v
	movn	x0, #:abs_g2_s:v
	movz	x0, #:prel_g0:near
	movk	x0, #:prel_g0_nc:v
	movz	x0, #:prel_g1:v
	movz	x0, #:prel_g1:back
	movk	x0, #:prel_g1_nc:v
	movz	x0, #:prel_g2:v
	movk	x0, #:prel_g2_nc:v
	movz	x0, #:prel_g3:v
near:
	adr	x1, v+5
	adrp	x2, v+4095
	adrp	x2, :pg_hi21_nc:v
	add	x2, x2, #:lo12:v+3
	ldr	x3, v+8
	ldrb	w3, [x2, #:lo12:v+1]
	ldrh	w3, [x2, #:lo12:v+2]
	ldr	w3, [x2, #:lo12:v+4]
	ldr	x3, [x2, #:lo12:v+8]
	ldr	q3, [x2, #:lo12:v+16]
	tbz	x3, #5, other
	cbz	x3, other
	b.eq	other
	b	other+4
	bl	other
	mrs	x0, tpidr_el0
	add	x0, x0, #:tprel_hi12:t2
	add	x0, x0, #:tprel_lo12_nc:t2
	add	x0, x0, #:tprel_lo12:t1
	movz	x0, #:tprel_g2:t2
	movz	x0, #:tprel_g1:t2
	movk	x0, #:tprel_g1_nc:t2
	movk	x0, #:tprel_g0_nc:t2
	movz	x0, #:tprel_g0:t1
	ldrb	w1, [x0, #:tprel_lo12:t1]
	ldrb	w1, [x0, #:tprel_lo12_nc:t2]
	ldrh	w1, [x0, #:tprel_lo12:t1]
	ldrh	w1, [x0, #:tprel_lo12_nc:t2]
	ldr	w1, [x0, #:tprel_lo12:t1]
	ldr	w1, [x0, #:tprel_lo12_nc:t2]
	ldr	x1, [x0, #:tprel_lo12:t1]
	ldr	x1, [x0, #:tprel_lo12_nc:t2]
	adrp	x4, :got:v
	ldr	x4, [x4, #:got_lo12:v]
	ldr	x5, :got:v
	adrp	x4, _GLOBAL_OFFSET_TABLE_
	ldr	x4, [x4, #:gotpage_lo15:other]
	ret
	.section .text.other,"ax"
back:
	nop
	.globl	other
other:
	ret
	.data
	.balign	16
v:	.quad	v, other-., 7
	.word	v, v-., other-.
	.hword	small, near-test
	.quad	v+0x123456789
	.globl	small, negative
	small = 0x1234
	negative = -0x1234
	.section .tdata,"awT"
	.balign	8
t1:	.quad	1
	.space	8192
t2:	.quad	2
