# Debugging information (DWARF 4) of types that contain themselves.

	.macro string text
	.asciz "\text"
	.endm

	# A structure of 8 bytes with unnamed members of the same type.
	.macro structure name, type, members=1
struct_\name:
	.uleb128 2
	string \name
	.byte 8
	.rept \members
	.uleb128 3
	.long \type-unit
	.byte 0
	.endr
	.byte 0
	.endm

	.macro typedef name, type
typedef_\name:
	.uleb128 4
	string \name
	.long \type-unit
	.endm

	.text
	.globl nothing
	.type nothing, %function
nothing:
	.zero 8
	.size nothing, 8

	.section .debug_abbrev, "", %progbits
	.uleb128 1; .byte 0x11, 1, 0x13, 0x0b, 0x03, 0x08, 0, 0 /* compile unit: language, name */
	.uleb128 2; .byte 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0 /* structure: name, size */
	.uleb128 3; .byte 0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0 /* unnamed member: type, offset */
	.uleb128 4; .byte 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0 /* typedef: name, type */
	.uleb128 5; .byte 0x01, 1, 0x49, 0x13, 0, 0 /* array: type */
	.uleb128 6; .byte 0x21, 0, 0x37, 0x0b, 0, 0 /* subrange: count */
	.uleb128 7; .byte 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0 /* member: name, type, offset */
	.uleb128 8; .byte 0x0f, 0, 0x49, 0x13, 0, 0 /* pointer: type */
	.uleb128 9; .byte 0x15, 1, 0x49, 0x13, 0, 0 /* function: type */
	.uleb128 10; .byte 0x05, 0, 0x49, 0x13, 0, 0 /* parameter: type */
	.byte 0

	.section .debug_info, "", %progbits
unit:
	.long end-begin
begin:
	.short 4
	.long 0
	.byte 8
	.uleb128 1
	.byte 0x0c /* C99 */
	string loops.c

	structure once, struct_once
	structure twice, struct_twice, 2
	structure hundred, struct_hundred, 100
	structure other, struct_another, 2
	structure another, struct_other, 2
	structure named, typedef_of_named, 2
	typedef of_named, struct_named
	typedef loop, typedef_loop
	typedef long_loop, typedef_long_loop_2
	typedef long_loop_2, typedef_long_loop
	structure of_loop, typedef_loop, 2
array:
	.uleb128 5
	.long array-unit
	.uleb128 6
	.byte 2
	.byte 0
	typedef array, array
	structure of_array, array, 2
pointer:
	.uleb128 8
	.long pointer-unit
	typedef pointer, pointer
	structure of_pointer, pointer, 2
function:
	.uleb128 9
	.long function-unit
	.uleb128 10
	.long function-unit
	.uleb128 10
	.long function-unit
	.byte 0
	typedef function, function
elements:
	.uleb128 5
	.long struct_of_elements-unit
	.uleb128 6
	.byte 4
	.byte 0
	structure of_elements, elements, 3
struct_of_named_array:
	.uleb128 2
	string of_named_array
	.byte 8
	.uleb128 7
	string x
	.long array-unit
	.byte 0
	.byte 0
	.byte 0
end:
