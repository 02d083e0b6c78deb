// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// C++ stopped while an exception is on its way. The argument says where:
//   destructor   in a destructor that unwinding runs
//   catch        in a handler
//   rethrow      in a handler of what another handler threw on
//   nested       in a destructor run by a second exception, inside a handler
//   uncaught     in the terminate handler, which the throw itself called
//   forced       in the stop function of a forced unwinding (as thread
//                cancellation does it), called by the unwinder

#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <unwind.h>
#include "ready.h"

namespace exceptions {

NOINLINE void wait()
{
	ready();
	for (;;)
		pause();
}

struct Guard {
	bool waits;
	NOINLINE explicit Guard(bool waits) : waits(waits) {}
	NOINLINE ~Guard()
	{
		if (waits)
			wait();
	}
};

NOINLINE void fail(int depth)
{
	std::string text(depth + 20, 'x'); // something to destroy in every frame
	if (depth == 0)
		throw std::runtime_error(text);
	fail(depth - 1);
	__asm__ volatile("");
}

NOINLINE void guarded(bool waits)
{
	Guard guard(waits);
	fail(3);
}

NOINLINE void destructor()
{
	try {
		guarded(true);
	} catch (const std::exception &) {
	}
}

NOINLINE void handler()
{
	try {
		guarded(false);
	} catch (const std::exception &) {
		wait();
	}
}

NOINLINE void rethrow()
{
	try {
		try {
			guarded(false);
		} catch (const std::runtime_error &) {
			Guard guard(false);
			throw;
		}
	} catch (const std::exception &) {
		try {
			throw 7;
		} catch (int) {
			wait();
		}
	}
}

NOINLINE void nested()
{
	try {
		guarded(false);
	} catch (const std::exception &) {
		try {
			guarded(true);
		} catch (...) {
		}
	}
}

NOINLINE void uncaught()
{
	std::set_terminate(wait);
	fail(2);
}

NOINLINE _Unwind_Reason_Code stop(int, _Unwind_Action, _Unwind_Exception_Class,
				  struct _Unwind_Exception *, struct _Unwind_Context *, void *)
{
	wait();
	return _URC_NO_REASON;
}

NOINLINE void forced()
{
	struct _Unwind_Exception exception = {};
	_Unwind_ForcedUnwind(&exception, stop, nullptr);
	__asm__ volatile("");
}

} // namespace exceptions

int main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "destructor";
	if (!strcmp(where, "destructor"))
		exceptions::destructor();
	else if (!strcmp(where, "catch"))
		exceptions::handler();
	else if (!strcmp(where, "rethrow"))
		exceptions::rethrow();
	else if (!strcmp(where, "nested"))
		exceptions::nested();
	else if (!strcmp(where, "uncaught"))
		exceptions::uncaught();
	else if (!strcmp(where, "forced"))
		exceptions::forced();
	return 1;
}
