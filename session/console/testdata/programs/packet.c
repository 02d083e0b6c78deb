// Network packets: packed headers with bit-fields, big-endian numbers, and their checksum.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define HERE __asm__ volatile("nop" ::: "memory")
struct __attribute__((packed)) ipv4 {
	uint8_t length : 4, version : 4;
	uint8_t service;
	uint16_t total;
	uint16_t id;
	uint16_t offset : 13, flags : 3;
	uint8_t ttl, protocol;
	uint16_t checksum;
	uint32_t from, to;
};
struct __attribute__((packed)) udp { uint16_t ports[2]; uint16_t length; int checksum : 16; uint64_t stamp; };
typedef struct { struct ipv4 ip; struct udp udp; char data[6]; } datagram;
enum verdict { ACCEPT, DROP = -1, REJECT = -2 };
struct filter { bool enabled : 1, log : 1; enum verdict verdict : 3; signed priority : 5; unsigned : 4; unsigned hits : 18; _Bool last; };

static uint16_t swap16(uint16_t x) { return x << 8 | x >> 8; }
static uint32_t swap32(uint32_t x) { return __builtin_bswap32(x); }

__attribute__((noinline)) static uint16_t checksum(const void *data, unsigned length)
{
	const uint8_t *p = data;
	uint32_t sum = 0;
	for (unsigned i = 0; i + 1 < length; i += 2)
		sum += p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	HERE; // STOP print sum; print/x sum; print p[0]; print/x *p@4; print *(struct ipv4 *)data; print ((struct ipv4 *)data)->ttl; print ((const struct ipv4 *)data)->version; print/x ((struct ipv4 *)data)->from; print *(uint16_t *)(p + 2); print/x *(uint16_t *)(p + 2); print/x *(uint32_t *)&p[12]; print swap16(0x1234); print/x swap16(0x1234); print/x swap32(1); print sum >> 16; print sum & 0xff; print ~sum & 0xffff; print/x ~sum; print (uint16_t)~sum; whatis (uint16_t)~sum; whatis sum & 0xffff; whatis p[0] << 8; whatis p[0] | p[1]; whatis *(struct ipv4 *)data; x/4xb p; x/2xh p; x/xw data; bt; up; info locals; down; finish
	return ~sum;
}

__attribute__((noinline)) static enum verdict decide(struct filter *f, const datagram *d)
{
	f->hits++;
	f->last = d->ip.ttl < 2;
	if (d->udp.checksum < 0)
		f->priority--;
	HERE; // STOP print *f; print f->enabled; print f->log; print f->verdict; print f->priority; print f->hits; print f->last; print/x *f; print/d f->verdict; print f->verdict == DROP; print f->priority * 2; print f->priority < 0; print -f->priority; print ~f->hits; print !f->enabled; print f->enabled + f->log; print f->hits << 2; whatis f->enabled; whatis f->verdict; whatis f->priority; whatis f->hits; whatis f->hits + 1; whatis f->priority + 1; whatis f->enabled + 1; ptype f; ptype struct filter; print sizeof(struct filter); print *d; print d->ip; print d->ip.length * 4; print d->ip.flags; print d->ip.offset; print/x d->udp; print d->udp.checksum; print d->udp.ports; print d->data; whatis d->ip.flags; whatis d->ip.flags + 0; whatis d->ip.length << 4; whatis d->udp.ports; whatis d->udp.checksum; ptype d; print &d->ip.ttl; print &d->udp.stamp; print (long)&((datagram *)0)->udp; print/d &((struct udp *)0)->stamp; print sizeof(datagram); print DROP; print REJECT; print (enum verdict)-2; print (enum verdict)5; print ACCEPT | DROP; ptype enum verdict; set var f->priority = -5; print f->priority; set var f->verdict = REJECT; print f->verdict; print f->hits = 7; print f->hits++; print f->hits; print f->log = 1; print f->priority = 40; bt; finish
	return f->enabled ? f->verdict : ACCEPT;
}

int run(int n)
{
	datagram d = {.ip = {.length = 5, .version = 4, .ttl = 64, .protocol = 17, .flags = 2, .offset = 100}, .udp = {{53, 0x1234}, .checksum = -7, .stamp = 0x1122334455667788}};
	struct filter f = {true, false, DROP, -3, 1000};
	memcpy(d.data, "query", n);
	d.ip.total = swap16(sizeof d);
	d.ip.from = swap32(0x7f000001);
	d.ip.checksum = swap16(checksum(&d.ip, sizeof d.ip));
	enum verdict verdict = decide(&f, &d);
	HERE; // STOP print d; print/x d; print d.ip.total; print d.ip.version; print/x d.ip.from; print d.udp.stamp; print/x d.udp.stamp; print d.udp.ports[1]; print f; print verdict; print/x verdict; print verdict + 1; print (int)verdict; print d.data; print sizeof d; print sizeof(struct ipv4); print sizeof d.udp; whatis d.ip; whatis d.udp.stamp; ptype d; ptype struct udp; ptype struct ipv4; print *(struct udp *)((char *)&d + 20); print &d.udp.length; print *&d.ip.ttl; x/4xb &d; x/xh &d.ip.total; x/xg &d.udp.stamp; set var d.ip.version = 6; print d.ip.version; print d.ip.length; set var d.ip.flags = 9; print d.ip.flags; print d.ip.offset; print/x d.ip.to = 0x01020304; print/t d.ip.flags; print/c d.ip.ttl; print d.ip.version == 6 && d.ip.ttl > 60; print f.last; print d.udp.checksum = 70000
	return verdict + f.hits;
}
