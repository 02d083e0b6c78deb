// Floating-point numbers of all formats that the compiler supports, with the values at
// the ends of their ranges.

#define VALUES(type, name, suffix, most, least, tiny) \
	type name = 0.333333333333333333333333333333333333333##suffix; \
	type name##_list[] = {1, -2.25, 0, -0.0##suffix, 1e10##suffix, 123456789012345678.0##suffix, most, least, tiny, \
		1.000000000000000000000000000001##suffix, __builtin_inf(), -__builtin_inf(), __builtin_nan("")}; \
	__extension__ _Complex type name##_pair = 0.1##suffix + 2.5##suffix * 1.0iF

VALUES(float, f, f, 3.4028234e38f, 1.1754944e-38f, 1e-45f);
VALUES(double, d, , 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324);
VALUES(long double, l, L, __LDBL_MAX__, __LDBL_MIN__, __LDBL_DENORM_MIN__);
#ifdef __FLT64X_MAX__
VALUES(_Float64x, x, F64x, __FLT64X_MAX__, __FLT64X_MIN__, __FLT64X_DENORM_MIN__);
#endif
#ifdef __FLT128_MAX__
VALUES(_Float128, q, F128, __FLT128_MAX__, __FLT128_MIN__, __FLT128_DENORM_MIN__);
#endif
#ifdef __powerpc64__
__ibm128 i = 0.333333333333333333333333333333333333333L, i_list[] = {1, -2.25, 1e10, 1.000000000000000000000000000001L};
__ieee128 e = 0.333333333333333333333333333333333333333F128, e_list[] = {1, -2.25, 1e10, 1.000000000000000000000000000001F128};
#endif
#ifdef __SIZEOF_FLOAT80__
__float80 t = 0.333333333333333333333333333333333333333L;
#endif

void _start(void) {}
