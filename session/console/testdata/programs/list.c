#define HERE __asm__ volatile("nop" ::: "memory")
#include <stdlib.h>
#include <string.h>
struct node { int key; char name[12]; struct node *next, **link; };
struct list { struct node *head; unsigned long count; };
static struct list all;
static struct node *push(struct list *to, int key, const char *name)
{
	struct node *made = malloc(sizeof *made);
	made->key = key;
	memset(made->name, 0, sizeof made->name);
	strcpy(made->name, name);
	made->link = &to->head;
	made->next = to->head;
	HERE; // STOP print *made; print made->name; print to->head; print *to; print key * 2 + 1; print name[1]; print *name@3; x/s name; print made->next == 0; print &made->name; print &made->name[2]; print made->link[0]; print **made->link
	to->head = made;
	HERE; // STOP print to->count; print *to->head; print $.name; print $$2; up; info locals; print i; list; down; print/x made->key; print/c made->name; print/d made->name; print/t made->key; print/o key; print/z key; print/s made->name; ptype struct node; ptype struct list; whatis struct node; whatis made->name; whatis &made->name; whatis *made; whatis made->link; ptype made->link
	to->count++;
	return made;
}
int run(int n)
{
	static const char *const names[] = {"zero", "one", "two", "three"};
	for (int i = 0; i < n; i++)
		push(&all, i, names[i]);
	int sum = 0;
	for (struct node *each = all.head; each; each = each->next) {
		HERE; // STOP print all; print *all.head; print names; print names[1]; print *names@2; print each->next; print sum += 2; print sum; set var sum = 7; print sum; print all.head->next->name; print sizeof(all); print &all; print &all.count; print *&all; ptype names; whatis names; whatis names[0]; print names == 0; print $_; print push; print *push; print &push; ptype push; whatis push; whatis &push; print run; info line push; info symbol push; print sum > 3 && n < 5; print n ? sum : 0; print -sum; print !sum; print ~sum; print sum / 2.0; print sum % 4; print (char)65; print (short)70000; print (unsigned char)300; print 1 + 2 * 3; print sum == 7; print 'a' + 1; print "abc"; print sizeof("abc"); print sizeof(int [4]); print 10 / 3.0f; print 0x10 | 3; print 5u - 6; print 1 << 3; print 5 > 3
		sum += each->key;
	}
	return sum;
}
