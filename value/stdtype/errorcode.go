// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value/print"
)

// errorCategories are the library's own categories by their classes, without namespaces.
var errorCategories = map[string]struct {
	name, enum string // enum is the enumeration of the errors
	errno      bool   // the errors are those of errno
}{
	"generic_error_category": {name: "generic", errno: true},
	"system_error_category":  {name: "system", errno: true},
	"future_error_category":  {name: "future", enum: "std::future_errc"},
	"io_error_category":      {name: "io", enum: "std::io_errc"},
}

// errorCode presents a std::error_code or std::error_condition: a number, and the category that
// defines its meaning. The class of the category identifies it.
func errorCode(e instance) print.Presentation {
	n := uints(e.Value, "_M_value", "_M_cat")
	number := int64(int32(n[0]))
	class, ok := dynamicType(e, n[1])
	if !ok {
		class = e.FieldByName("_M_cat").Type().Strip().Elem().Strip().Name()
	}
	category, known := errorCategories[lastOf(class)]
	if known && number == 0 && category.name == map[string]string{"std::error_code": "system", "std::error_condition": "generic"}[e.template] {
		return print.Presentation{Text: e.template + " = { }"} // the value of the default constructor
	}
	name, text := class, strconv.FormatInt(number, 10)
	if known {
		name = strconv.Quote(category.name)
	}
	if category.errno && number != 0 {
		if errno := errnoName(e.Type().Machine(), number); errno != "" {
			text = errno
		}
	}
	if enumerator := enumeratorName(e, category.enum, number); enumerator != "" {
		text = enumerator
	}
	return print.Presentation{Text: fmt.Sprintf("%s = {%s: %s}", e.template, name, text)}
}

// enumeratorName returns the name of a value of an enumeration, or "".
func enumeratorName(e instance, enum string, number int64) string {
	info := e.Frame().Info()
	if enum == "" || info == nil {
		return ""
	}
	_, pc := e.Frame().ProgramCounter()
	t, err := info.Type(enum, pc-e.Frame().Bias())
	if err != nil {
		return ""
	}
	for _, known := range t.Strip().Enumerators() {
		if known.Value == number {
			return lastOf(known.Name)
		}
	}
	return ""
}

// maxClassName bounds the name of a class in memory, in bytes.
const maxClassName = 256

// dynamicType returns the name of the class of a polymorphic object. Its virtual table points to
// the description of its type, and that to the name (Itanium C++ ABI §2.5.2 and §2.9.5). Both are
// in every program with run-time types, even without debugging information.
func dynamicType(i instance, object uint64) (class string, ok bool) {
	size := uint64(i.Type().Machine().AddressSize)
	at := object
	for _, offset := range []uint64{0, -size, size} {
		next, err := word(i, at+offset)
		if err != nil || next == 0 {
			return "", false
		}
		at = next
	}
	name := make([]byte, maxClassName)
	for len(name) > 8 && i.Frame().ReadMemory(name, at) != nil {
		name = name[:len(name)/2] // it can be at the end of the mapped memory
	}
	name, _, ok = bytes.Cut(name, []byte{0})
	if !ok {
		return "", false
	}
	return className(strings.TrimPrefix(string(name), "*"))
}

// className returns the name of a class that is neither local to a function nor an instance of a
// template: "MyCategory" for "10MyCategory" (Itanium C++ ABI §5.1).
func className(mangled string) (name string, ok bool) {
	rest, nested := strings.CutPrefix(mangled, "N")
	if nested {
		if rest, ok = strings.CutSuffix(rest, "E"); !ok {
			return "", false
		}
	}
	var parts []string
	if suffix, isSTD := strings.CutPrefix(rest, "St"); isSTD {
		parts, rest = append(parts, "std"), suffix
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n == 0 || n > len(rest)-digits {
			return "", false
		}
		part := rest[digits:][:n]
		if strings.HasPrefix(part, "_GLOBAL__N_") {
			part = "(anonymous namespace)"
		}
		parts, rest = append(parts, part), rest[digits+n:]
	}
	return strings.Join(parts, "::"), len(parts) > 0
}

// errnoNames are Linux's errors by number (include/uapi/asm-generic/errno-base.h and errno.h). Of
// several with one number it has the one that Python has, because gdb's printers use Python.
const errnoNames = "" +
	"EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST " +
	"EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE " +
	"EDEADLOCK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP - ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH " +
	"ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT - EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE " +
	"ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC ELIBBAD " +
	"ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT " +
	"EPROTONOSUPPORT ESOCKTNOSUPPORT ENOTSUP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH " +
	"ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN " +
	"EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE " +
	"ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL"

// commonErrnos is the number of errors that have the same numbers on all machines.
const commonErrnos = 34

// errnoName returns the name of an error, or "".
func errnoName(m *arch.Machine, number int64) string {
	if m.C.OwnErrnos && number > commonErrnos {
		return ""
	}
	if names := strings.Fields(errnoNames); number > 0 && number <= int64(len(names)) && names[number-1] != "-" {
		return names[number-1]
	}
	return ""
}
