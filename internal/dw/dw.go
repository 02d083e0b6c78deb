// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dw has the numbers of DWARF that this module uses, by their names: TagSubprogram
// is DW_TAG_subprogram. Package cfi has the operations of call frame information and of
// expressions. The constants are untyped, so that they fit the types of debug/dwarf.
package dw

// Tags of entries, DW_TAG_* (DWARF 5 table 7.3).
const (
	TagArrayType                = 0x01
	TagClassType                = 0x02
	TagEnumerationType          = 0x04
	TagFormalParameter          = 0x05
	TagLexicalBlock             = 0x0b
	TagCompileUnit              = 0x11
	TagStructureType            = 0x13
	TagSubroutineType           = 0x15
	TagTypedef                  = 0x16
	TagUnionType                = 0x17
	TagInlinedSubroutine        = 0x1d
	TagConstant                 = 0x27
	TagSubprogram               = 0x2e
	TagVariable                 = 0x34
	TagNamespace                = 0x39
	TagCallSite                 = 0x48
	TagSkeletonUnit             = 0x4a
	TagGNUTemplateParameterPack = 0x4107
	TagGNUCallSite              = 0x4109
	TagGNUCallSiteParameter     = 0x410a
)

// Attributes, DW_AT_* (DWARF 5 table 7.5). Those of Go are from cmd/internal/dwarf.
const (
	AttrSibling               = 0x01
	AttrLocation              = 0x02
	AttrName                  = 0x03
	AttrStmtList              = 0x10
	AttrLowPC                 = 0x11
	AttrHighPC                = 0x12
	AttrLanguage              = 0x13
	AttrStringLength          = 0x19
	AttrCompDir               = 0x1b
	AttrProducer              = 0x25
	AttrReturnAddress         = 0x2a
	AttrAbstractOrigin        = 0x31
	AttrDataMemberLocation    = 0x38
	AttrDeclFile              = 0x3a
	AttrDeclLine              = 0x3b
	AttrDeclaration           = 0x3c
	AttrExternal              = 0x3f
	AttrFrameBase             = 0x40
	AttrSegment               = 0x46
	AttrSpecification         = 0x47
	AttrStaticLink            = 0x48
	AttrUseLocation           = 0x4a
	AttrVtableElementLocation = 0x4d
	AttrRanges                = 0x55
	AttrCallColumn            = 0x57
	AttrCallFile              = 0x58
	AttrCallLine              = 0x59
	AttrLinkageName           = 0x6e
	AttrStrOffsetsBase        = 0x72
	AttrAddrBase              = 0x73
	AttrRnglistsBase          = 0x74
	AttrDwoName               = 0x76
	AttrMacros                = 0x79
	AttrCallAllCalls          = 0x7a
	AttrCallAllTailCalls      = 0x7c
	AttrCallReturnPC          = 0x7d
	AttrCallOrigin            = 0x7f
	AttrCallPC                = 0x81
	AttrCallTailCall          = 0x82
	AttrNoreturn              = 0x87
	AttrExportSymbols         = 0x89
	AttrDefaulted             = 0x8b
	AttrLoclistsBase          = 0x8c
	AttrMIPSLinkageName       = 0x2007
	AttrGNUVector             = 0x2107
	AttrGNUCallSiteValue      = 0x2111
	AttrGNUCallSiteDataValue  = 0x2112
	AttrGNUCallSiteTarget     = 0x2113
	AttrGNUTailCall           = 0x2115
	AttrGNUAllTailCallSites   = 0x2116
	AttrGNUAllCallSites       = 0x2117
	AttrGNUMacros             = 0x2119
	AttrGNUDwoName            = 0x2130
	AttrGNUDwoID              = 0x2131
	AttrGNURangesBase         = 0x2132
	AttrGNUAddrBase           = 0x2133
	AttrGNUNumerator          = 0x2303
	AttrGNUDenominator        = 0x2304
	AttrGoKind                = 0x2900
	AttrGoKey                 = 0x2901
	AttrGoElem                = 0x2902
	AttrGoRuntimeType         = 0x2904 // the address of the type's descriptor
	AttrGoDictionaryIndex     = 0x2906
)

// Forms, DW_FORM_* (DWARF 5 table 7.6).
const (
	FormAddr          = 0x01
	FormBlock2        = 0x03
	FormBlock4        = 0x04
	FormData2         = 0x05
	FormData4         = 0x06
	FormData8         = 0x07
	FormString        = 0x08
	FormBlock         = 0x09
	FormBlock1        = 0x0a
	FormData1         = 0x0b
	FormFlag          = 0x0c
	FormSdata         = 0x0d
	FormStrp          = 0x0e
	FormUdata         = 0x0f
	FormRefAddr       = 0x10
	FormRef1          = 0x11
	FormRef2          = 0x12
	FormRef4          = 0x13
	FormRef8          = 0x14
	FormRefUdata      = 0x15
	FormIndirect      = 0x16
	FormSecOffset     = 0x17
	FormExprloc       = 0x18
	FormFlagPresent   = 0x19
	FormStrx          = 0x1a
	FormAddrx         = 0x1b
	FormRefSup4       = 0x1c
	FormStrpSup       = 0x1d
	FormData16        = 0x1e
	FormLineStrp      = 0x1f
	FormRefSig8       = 0x20
	FormImplicitConst = 0x21
	FormLoclistx      = 0x22
	FormRnglistx      = 0x23
	FormRefSup8       = 0x24
	FormStrx1         = 0x25
	FormStrx2         = 0x26
	FormStrx3         = 0x27
	FormStrx4         = 0x28
	FormAddrx1        = 0x29
	FormAddrx2        = 0x2a
	FormAddrx3        = 0x2b
	FormAddrx4        = 0x2c
	FormGNUAddrIndex  = 0x1f01
	FormGNUStrIndex   = 0x1f02
	FormGNURefAlt     = 0x1f20 // DW_FORM_GNU_ref_alt
	FormGNUStrpAlt    = 0x1f21
)

// Types of units, DW_UT_* (DWARF 5 table 7.2).
const (
	UTCompile      = 0x01
	UTType         = 0x02
	UTPartial      = 0x03
	UTSkeleton     = 0x04
	UTSplitCompile = 0x05
	UTSplitType    = 0x06
)

// Languages, DW_LANG_* (DWARF 5 table 7.17, and dwarfstd.org's list of the codes since).
const (
	LangC89           = 0x01
	LangC             = 0x02
	LangAda83         = 0x03
	LangCPlusPlus     = 0x04
	LangCobol74       = 0x05
	LangCobol85       = 0x06
	LangFortran77     = 0x07
	LangFortran90     = 0x08
	LangPascal83      = 0x09
	LangModula2       = 0x0a
	LangJava          = 0x0b
	LangC99           = 0x0c
	LangAda95         = 0x0d
	LangFortran95     = 0x0e
	LangPLI           = 0x0f
	LangObjC          = 0x10
	LangObjCPlusPlus  = 0x11
	LangUPC           = 0x12
	LangD             = 0x13
	LangPython        = 0x14
	LangOpenCL        = 0x15
	LangGo            = 0x16
	LangModula3       = 0x17
	LangHaskell       = 0x18
	LangCPlusPlus03   = 0x19
	LangCPlusPlus11   = 0x1a
	LangOCaml         = 0x1b
	LangRust          = 0x1c
	LangC11           = 0x1d
	LangSwift         = 0x1e
	LangJulia         = 0x1f
	LangCPlusPlus14   = 0x21
	LangFortran03     = 0x22
	LangFortran08     = 0x23
	LangRenderScript  = 0x24
	LangBLISS         = 0x25
	LangKotlin        = 0x26
	LangZig           = 0x27
	LangCrystal       = 0x28
	LangCPlusPlus17   = 0x2a
	LangCPlusPlus20   = 0x2b
	LangC17           = 0x2c
	LangFortran18     = 0x2d
	LangAda2005       = 0x2e
	LangAda2012       = 0x2f
	LangHIP           = 0x30
	LangAssembly      = 0x31
	LangCSharp        = 0x32
	LangMojo          = 0x33
	LangCPlusPlus23   = 0x3a
	LangC23           = 0x3e
	LangFortran23     = 0x3f
	LangMipsAssembler = 0x8001 // the GNU assembler's own code
)

// Encodings of base types, DW_ATE_* (DWARF 5 table 7.11).
const (
	ATEAddress       = 0x01
	ATEBoolean       = 0x02
	ATEComplex       = 0x03
	ATEFloat         = 0x04
	ATESigned        = 0x05
	ATESignedChar    = 0x06
	ATEUnsigned      = 0x07
	ATEUnsignedChar  = 0x08
	ATESignedFixed   = 0x0d
	ATEUnsignedFixed = 0x0e
	ATEDecimalFloat  = 0x0f
	ATEUTF           = 0x10
	ATEUCS           = 0x11
	ATEASCII         = 0x12
	ATELoUser        = 0x80 // of gcc's complex integers
)

// Entries of .debug_loclists, DW_LLE_* (DWARF 5 table 7.10).
const (
	LLEEndOfList       = 0x00
	LLEBaseAddressx    = 0x01
	LLEStartxEndx      = 0x02
	LLEStartxLength    = 0x03
	LLEOffsetPair      = 0x04
	LLEDefaultLocation = 0x05
	LLEBaseAddress     = 0x06
	LLEStartEnd        = 0x07
	LLEStartLength     = 0x08
	LLEGNUViewPair     = 0x09 // gcc: two numbers of views, without a meaning for addresses
)

// Entries of .debug_loc.dwo, DW_LLE_GNU_*, as GNU's split DWARF 4 had them.
const (
	LLEGNUEndOfList   = 0x00
	LLEGNUBaseAddress = 0x01
	LLEGNUStartEnd    = 0x02
	LLEGNUStartLength = 0x03
)

// Entries of .debug_rnglists, DW_RLE_* (DWARF 5 table 7.30).
const (
	RLEEndOfList    = 0x00
	RLEBaseAddressx = 0x01
	RLEStartxEndx   = 0x02
	RLEStartxLength = 0x03
	RLEOffsetPair   = 0x04
	RLEBaseAddress  = 0x05
	RLEStartEnd     = 0x06
	RLEStartLength  = 0x07
)

// Standard operations of line number programs, DW_LNS_* (DWARF 5 table 7.25).
const (
	LNSExtended         = 0x00 // an extended operation follows
	LNSCopy             = 0x01
	LNSAdvancePC        = 0x02
	LNSAdvanceLine      = 0x03
	LNSSetFile          = 0x04
	LNSSetColumn        = 0x05
	LNSNegateStatement  = 0x06
	LNSSetBasicBlock    = 0x07
	LNSConstAddPC       = 0x08
	LNSFixedAdvancePC   = 0x09
	LNSSetPrologueEnd   = 0x0a
	LNSSetEpilogueBegin = 0x0b
)

// Extended operations of line number programs, DW_LNE_* (DWARF 5 table 7.26).
const (
	LNEEndSequence      = 0x01
	LNESetAddress       = 0x02
	LNESetDiscriminator = 0x04
)

// Contents of the directories and files of a line table, DW_LNCT_* (DWARF 5 table 7.27).
const (
	LNCTPath           = 0x01
	LNCTDirectoryIndex = 0x02
)
