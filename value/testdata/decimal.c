// Decimal floating-point numbers, which clang does not support, and invalid numbers of the x87.
volatile int sink;

typedef _Decimal64 price;
struct order { _Decimal32 tax; price p; _Decimal128 q; };

__attribute__((noinline)) void numbers(_Decimal32 a, price b, _Decimal128 c, struct order *bill)
{
	_Decimal32 zero = 0.DF, cents = 0.00DF, neg = -1.50DF, most = 9999999.DF, large = 9.999999E96DF, tiny = 1E-101DF, small = 0.000001DF, smaller = 0.0000001DF, ten = 1E1DF, negzero = -0.0DF;
	_Decimal64 one = 1.DD, half = 0.5DD, thousand = 1E3DD, full = 9999999999999999.DD, point = 123456789.123456DD, edge = 9.007199254740992DD, over = 9.007199254740993E100DD;
	_Decimal128 third = 0.3333333333333333333333333333333333DL, every = 9999999999999999999999999999999999.DL, far = -1.000E-6176DL, up = 7E6000DL;
	_Decimal64 inf = __builtin_infd64(), nan = __builtin_nand64(""), ninf = -__builtin_infd64();
	_Decimal32 list[3] = {1.0DF, 2.00DF, 3.000DF};
	union { unsigned long long u[2]; _Decimal64 d; long double x87; } signalling = {{0x7e00000000000005ULL, 0}}, infinite = {{0x4000000000000005ULL, 0x7fff}}, unnormal = {{5, 0x3fff}};
	price *pp = &bill->p;
	sink += a + b + c + *pp; // STOP
	sink += zero + cents + neg + most + small + smaller + ten + negzero + (large > 1) + (tiny > 1);
	sink += one + half + thousand + full + point + edge + (over > 1) + third + (every > 1) + far + (up > 1) + (inf > 1) + (nan > 1) + (ninf > 1) + list[1];
	sink += signalling.u[1] + infinite.u[0] + unnormal.u[0];
}

int main(void)
{
	struct order order = {-2.5DF, 19.99DD, 1E-10DL};
	numbers(1.5DF, 2.50DD, -3.500DL, &order);
	return 0;
}
