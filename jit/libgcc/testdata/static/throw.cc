// The callee and the caller of the generated code.

extern "C" long throws(long n) { throw n + 1; }

extern "C" long catches(long (*code)(long), long n) {
	try {
		return code(n);
	} catch (long caught) {
		return caught;
	}
}
