// SHA-256 of one message, its state in an array and in words.
#include <stdint.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef union digest { uint32_t words[8]; uint8_t bytes[32]; struct { uint32_t a, b, c, d; uint64_t rest[2]; }; } digest;
typedef struct { digest state; uint64_t bits; uint8_t block[64]; unsigned fill; } sha256;

__attribute__((noinline)) static void compress(sha256 *s)
{
	uint32_t w[64], v[8];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | s->block[4 * i + 1] << 16 | s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (ROTATE(w[i - 15], 7) ^ ROTATE(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (ROTATE(w[i - 2], 17) ^ ROTATE(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, s->state.words, sizeof v);
	HERE; // STOP print/x w[0]@4; print w[63]; print/x v; print/x s->state; print s->state.a; print/x s->state.words[7]; print/x s->state.rest; print s->block; print/x s->block; print s->fill; print s->bits; print/x k[0]@4; print k[63]; print &k[1]; print *k@2; print/x w[15]; print/x (w[0] >> 7 | w[0] << 25); print/x w[0] << 25; print w[0] << 25 >> 25; print/x v[0] ^ v[1]; print/x ~v[0]; print v[0] + v[1]; print v[0] * v[1]; print -v[0]; print v[0] > v[1]; whatis w[0] << 25; whatis v[0] ^ v[1]; whatis v[0] + 1; whatis v[0] + 1ul; whatis -v[0]; whatis ~v[0]; whatis v[0] > v[1]; whatis s->state; ptype s->state; ptype s; whatis s->block; whatis w; whatis &w; whatis k; whatis *k; ptype k; x/4xw k; x/2xg s; x/8xb s->block; x/4xw v; x/2dw v; x/2uw v; print sizeof w; print sizeof(sha256); bt; info args
	for (int i = 0; i < 64; i++) {
		uint32_t t = v[7] + (ROTATE(v[4], 6) ^ ROTATE(v[4], 11) ^ ROTATE(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t u = (ROTATE(v[0], 2) ^ ROTATE(v[0], 13) ^ ROTATE(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += t;
		v[0] = t + u;
	}
	for (int i = 0; i < 8; i++)
		s->state.words[i] += v[i];
}

__attribute__((noinline)) static void finish_message(sha256 *s)
{
	s->block[s->fill++] = 0x80;
	memset(s->block + s->fill, 0, 56 - s->fill);
	for (int i = 0; i < 8; i++)
		s->block[63 - i] = s->bits >> 8 * i;
	compress(s);
	s->fill = 0;
}

int run(int n)
{
	static sha256 s = {{{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}}};
	memcpy(s.block, "abcdef", n);
	s.fill = n;
	s.bits = 8 * n;
	finish_message(&s);
	digest result = s.state;
	HERE; // STOP print result; print/x result; print/x result.words; print/x result.bytes[0]@4; print result.a; print/x result.a; print/x result.rest[0]; print/u result.rest[1]; print/d result.rest[1]; print result.rest[1] >> 63; print s.block; print -elements 5 -- s.block; print s.bits; print sizeof result; print (uint8_t)result.a; print (int8_t)result.a; print (uint16_t)result.words[1]; print/x (uint64_t)result.a << 32 | result.b; whatis (uint64_t)result.a << 32; whatis result.bytes; whatis result.rest[0] + result.a; whatis result.a * 1.0f; ptype result; ptype digest; whatis s; whatis digest; print &result.bytes[3]; print &result.words; print &result == 0; print compress; set var result.bytes[0] = 0; print/x result.a; print result.a; print/x result.bytes[0]@5; output/x result.b
	return result.bytes[0];
}
