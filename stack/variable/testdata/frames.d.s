	.file	"frames.d"
	.text
.Ltext0:
	.file 0 "." "frames.d"
	.globl	main
	.type	main, @function
main:
.LFB0:
	.file 1 "frames.d"
	.loc 1 24 16
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	subq	$32, %rsp
	movl	%edi, -20(%rbp)
	movq	%rsi, -32(%rbp)
	.loc 1 26 10
	movq	$1, -16(%rbp)
	movq	$2, -8(%rbp)
	.loc 1 27 30
	movl	-20(%rbp), %eax
	leal	40(%rax), %edx
	leaq	-16(%rbp), %rax
	movl	%edx, %esi
	movq	%rax, %rdi
	call	_D6frames__T4PairTlZQi3sumMFiZl
	.loc 1 28 1
	leave
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE0:
	.size	main, .-main
	.align 2
	.weak	_D6frames__T4PairTlZQi3sumMFiZl
	.type	_D6frames__T4PairTlZQi3sumMFiZl, @function
_D6frames__T4PairTlZQi3sumMFiZl:
.LFB1:
	.loc 1 12 7
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	subq	$16, %rsp
	movq	%rdi, -8(%rbp)
	movl	%esi, -12(%rbp)
	.loc 1 14 20
	movl	-12(%rbp), %eax
	cltq
	movq	-8(%rbp), %rdx
	movq	%rdx, %rsi
	movq	%rax, %rdi
	call	_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl
	.loc 1 15 5
	leave
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE1:
	.size	_D6frames__T4PairTlZQi3sumMFiZl, .-_D6frames__T4PairTlZQi3sumMFiZl
	.weak	_D6frames__T4PairTlZQi6__initZ
	.section	.rodata
	.align 16
	.type	_D6frames__T4PairTlZQi6__initZ, @object
	.size	_D6frames__T4PairTlZQi6__initZ, 16
_D6frames__T4PairTlZQi6__initZ:
	.zero	16
	.text
	.weak	_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl
	.type	_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl, @function
_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl:
.LFB2:
	.loc 1 18 3
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	movq	%rdi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	.loc 1 20 16
#APP
# 20 "frames.d" 1
	ud2
# 0 "" 2
	.loc 1 21 20
#NO_APP
	movq	-16(%rbp), %rax
	movq	8(%rax), %rax
	.loc 1 21 5
	imulq	-8(%rbp), %rax
	.loc 1 22 1
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE2:
	.size	_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl, .-_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl
.Letext0:
	.file 2 "/usr/lib/gcc/x86_64-linux-gnu/12/include/d/object.d"
	.file 3 "<no_file>"
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x1ec
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x8
	.long	.LASF16
	.byte	0x13
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x9
	.long	.LASF17
	.byte	0x1
	.byte	0x6
	.byte	0x1
	.long	0xc3
	.uleb128 0xa
	.byte	0x3
	.byte	0x1
	.long	0xc3
	.uleb128 0xb
	.long	.LASF18
	.byte	0x10
	.byte	0x1
	.byte	0x8
	.byte	0x1
	.long	0x7e
	.uleb128 0x5
	.long	.LASF2
	.long	0xf9
	.byte	0
	.uleb128 0x5
	.long	.LASF3
	.long	0xf9
	.byte	0x8
	.uleb128 0xc
	.string	"sum"
	.byte	0x1
	.byte	0xc
	.byte	0x7
	.long	.LASF19
	.long	0xf9
	.uleb128 0xd
	.long	0x14e
	.uleb128 0xe
	.long	0x153
	.byte	0
	.byte	0
	.uleb128 0x2
	.long	0x41
	.uleb128 0xf
	.long	.LASF10
	.byte	0x1
	.byte	0x12
	.byte	0x3
	.long	.LASF20
	.long	0xf9
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x1
	.long	.LASF4
	.byte	0x12
	.byte	0x3
	.long	0xf9
	.uleb128 0x2
	.byte	0x91
	.sleb128 -24
	.uleb128 0x1
	.long	.LASF5
	.byte	0x12
	.byte	0x3
	.long	0x148
	.uleb128 0x2
	.byte	0x91
	.sleb128 -32
	.byte	0
	.byte	0
	.uleb128 0x10
	.long	.LASF21
	.long	0xf9
	.uleb128 0x11
	.long	.LASF6
	.byte	0x2
	.value	0xe71
	.byte	0xa
	.long	0x127
	.byte	0x10
	.byte	0x10
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x12
	.long	.LASF7
	.byte	0x2
	.value	0xe6c
	.byte	0x14
	.long	0x143
	.byte	0
	.byte	0
	.uleb128 0x3
	.byte	0x8
	.byte	0x5
	.long	.LASF8
	.uleb128 0x13
	.long	.LASF14
	.long	.LASF22
	.long	0x7e
	.uleb128 0x9
	.byte	0x3
	.quad	_D6frames__T4PairTlZQi6__initZ
	.uleb128 0x6
	.long	0x12c
	.long	0x127
	.uleb128 0x7
	.long	0x12c
	.byte	0x1
	.byte	0
	.uleb128 0x2
	.long	0x117
	.uleb128 0x3
	.byte	0x8
	.byte	0x7
	.long	.LASF9
	.uleb128 0x6
	.long	0x12c
	.long	0x143
	.uleb128 0x7
	.long	0x12c
	.byte	0
	.byte	0
	.uleb128 0x2
	.long	0x133
	.uleb128 0x14
	.byte	0x8
	.long	0x41
	.uleb128 0x4
	.long	0x41
	.uleb128 0x15
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0x16
	.long	0x62
	.quad	.LFB1
	.quad	.LFE1-.LFB1
	.uleb128 0x1
	.byte	0x9c
	.long	0x190
	.uleb128 0x17
	.long	.LASF23
	.long	0x148
	.uleb128 0x2
	.byte	0x91
	.sleb128 -24
	.uleb128 0x1
	.long	.LASF4
	.byte	0xc
	.byte	0x7
	.long	0x153
	.uleb128 0x2
	.byte	0x91
	.sleb128 -28
	.byte	0
	.uleb128 0x18
	.long	.LASF11
	.byte	0x1
	.byte	0x18
	.byte	0x10
	.long	0x153
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.long	0x1de
	.uleb128 0x1
	.long	.LASF12
	.byte	0x18
	.byte	0x10
	.long	0x153
	.uleb128 0x2
	.byte	0x91
	.sleb128 -36
	.uleb128 0x1
	.long	.LASF13
	.byte	0x18
	.byte	0x10
	.long	0x1de
	.uleb128 0x2
	.byte	0x91
	.sleb128 -48
	.uleb128 0x19
	.long	.LASF5
	.byte	0x1
	.byte	0x1a
	.byte	0xa
	.long	0x41
	.uleb128 0x2
	.byte	0x91
	.sleb128 -32
	.byte	0
	.uleb128 0x4
	.long	0x1e3
	.uleb128 0x4
	.long	0x1e8
	.uleb128 0x3
	.byte	0x1
	.byte	0x8
	.long	.LASF15
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x26
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0xf
	.byte	0
	.uleb128 0xb
	.uleb128 0x21
	.sleb128 8
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0xd
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 26
	.uleb128 0x39
	.uleb128 0x21
	.sleb128 10
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x38
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x1
	.byte	0x1
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x21
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2f
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x8
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x1e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xa
	.uleb128 0x3a
	.byte	0
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x18
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xb
	.uleb128 0x13
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xc
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0xd
	.uleb128 0x5
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x34
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0xe
	.uleb128 0x5
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xf
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x10
	.uleb128 0x1e
	.byte	0x1
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x11
	.uleb128 0x27
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0x5
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1c
	.uleb128 0xa
	.byte	0
	.byte	0
	.uleb128 0x12
	.uleb128 0x27
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0x5
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1c
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x13
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x34
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x14
	.uleb128 0x10
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x15
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0x16
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x47
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x17
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x34
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x18
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x19
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF10:
	.string	"last"
.LASF7:
	.string	"NoPointersBitmapPayload"
.LASF21:
	.string	"object"
.LASF6:
	.string	"pointerBitmap"
.LASF3:
	.string	"second"
.LASF20:
	.string	"_D6frames__T4lastTlZQiFlKSQy__T4PairTlZQiZl"
.LASF5:
	.string	"pair"
.LASF19:
	.string	"_D6frames__T4PairTlZQi3sumMFiZl"
.LASF18:
	.string	"Pair!long"
.LASF8:
	.string	"long"
.LASF22:
	.string	"_D6frames__T4PairTlZQi6__initZ"
.LASF11:
	.string	"main"
.LASF23:
	.string	"this"
.LASF17:
	.string	"frames"
.LASF9:
	.string	"ulong"
.LASF12:
	.string	"argc"
.LASF2:
	.string	"first"
.LASF13:
	.string	"argv"
.LASF16:
	.string	"GNU D 12.2.0 -mtune=generic -march=x86-64 -g -O0 -fno-druntime"
.LASF14:
	.string	"frames.Pair!long.Pair.__init"
.LASF4:
	.string	"times"
.LASF15:
	.string	"char"
	.section	.debug_line_str,"MS",@progbits,1
.LASF1:
	.string	"."
.LASF0:
	.string	"frames.d"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
