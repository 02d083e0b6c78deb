# Every relocation of the psABI that gas has an operator for, but for those that
# linkers rewrite.
	.text
	.globl	test
test:
	mov	v(%rip), %eax
	movb	$1, v+3(%rip)
	mov	$v, %eax
	movq	$v, %rax
	movabs	$v, %rax
	mov	v(,%rdi,4), %eax
	call	other
	jmp	other@plt
	je	other
	jmp	*v@GOTPCREL(%rip)
	mov	v@GOTPCREL(%rip), %eax
	addq	v@GOTPCREL(%rip), %rax
	cmpl	$5, v@GOTPCREL(%rip)
	lea	_GLOBAL_OFFSET_TABLE_(%rip), %rbx
	movabs	$_GLOBAL_OFFSET_TABLE_-test, %r11
	movabs	$v@GOTOFF, %rax
	movabs	$other@PLTOFF, %rax
	mov	$v@SIZE, %eax
	movabs	$v@SIZE+2, %rax
	mov	%fs:t@tpoff, %eax
	mov	$t@tpoff, %rax
	movabs	$t@tpoff, %rax
	.byte	0xeb, near-.-1
	.section .text.other,"ax"
other:
	ret
	.data
	.balign	16
	.type	v, @object
	.size	v, 24
v:	.quad	v, other-., 7
	.long	v, v-., other-.
	.short	small, absolute
	.byte	tiny
	.quad	v+0x123456789
	.globl	small, tiny, absolute
	small = 0x1234
	tiny = 0x7f
	absolute = 0xfffe
	near = test+0x70
	.section .tdata,"awT"
	.space	40
t:	.quad	1
