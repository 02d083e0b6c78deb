#define HERE __asm__ volatile("nop" ::: "memory")
#include <stddef.h>
static char buffer[64] = "start";
const char escaped[] = "tab\t nl\n quote\" back\\ bell\a nul\0after \x7f \xff";
const char digits[] = "\0011 2\0023";
const char *list[] = {"a", "", "three", 0};
char letters[4] = {'a', 'b', 'c', 'd'}, empty[8], single[1] = {'x'};
unsigned char bytes[6] = "bytes"; signed char sbytes[3] = {-1, 0, 1};
__attribute__((noinline)) static size_t append(char *to, size_t at, const char *text)
{
	size_t n = 0;
	while ((to[at + n] = text[n]) != 0)
		n++;
	HERE; // STOP print to; print *to; print *to@5; print text; print text[n]; print n; print at; print to + at; print &to[at]; print to[0] == 's'; print/c to[0]; print/d to[0]; print/x to[0]; print/s to; whatis n; ptype n; whatis text; x/s to; x/s text; x/2s text; x/4cb to; x/8xb to; finish
	return at + n;
}
int run(int n)
{
	size_t at = append(buffer, 5, " middle");
	at = append(buffer, at, " end");
	char local[12] = "local", *end = local + n, **out = &end;
	HERE; // STOP print buffer; print escaped; print digits; print list; print list[0]; print list[1]; print list[3]; print *list; print letters; print empty; print single; print bytes; print sbytes; print local; print end; print *end; print *out; print **out; print &local; print &local[1]; print *local@3; print local + 1; print sizeof(escaped); print sizeof(local); print escaped[3]; print letters[1] + 1; print bytes[0]; print/x bytes; print/d bytes; print/c bytes; print/u sbytes; print/x escaped; print "lit"; print "a\tb"; print sizeof("lit"); print 'z'; print '\t'; print '\\'; print '\''; print '\101'; print '\x41'; print "x" "y"; print *"xyz"; print "xyz"[1]; whatis "xyz"; whatis local; whatis list; ptype list; ptype escaped; whatis escaped; whatis buffer[0]; print buffer == local; print end - local; print *end == 'a'; print local[0] = 'L'; print local; x/s buffer; x/3s escaped; x/s empty; print (char)98; print (char)200; print (unsigned char)'a'; print end > local
	return at;
}
