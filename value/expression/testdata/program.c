// The program for the expressions in expressions.txt. The test stops at the line
// with the word STOP.

#include <stdint.h>

typedef struct node {
	struct node *next;
	int key;
	char name[8];
	union {
		int i;
		float f;
	} u;
	unsigned bits : 3;
	int sbits : 5;
	struct {
		short x, y;
	};
} node_t;

enum color { RED, GREEN = 5, BLUE };
enum flags { A = 1, B = 2, C = 4 };
typedef int (*operation)(int);
typedef unsigned long word;

int numbers[5] = {1, 2, 3, 4, 5};
static int counter = 7;
double gd = 2.5, third = 1.0 / 3;
float gf = 1.25f;
long double gld = 1.5L;
node_t second = {0, 42, "two", {7}, 5, -3, {8, 9}};
node_t first = {&second, 41, "one", {9}, 3, 2, {-1, -2}};
enum color color = GREEN;
enum flags flags = A | C;
_Bool yes = 1, no = 0;
unsigned char uc = 200;
signed char sc = -5;
char ch = 'x';
short sh = -300;
unsigned short us = 65000;
unsigned int ui = 4000000000u;
long lg = -5000000000L;
unsigned long ul = 18446744073709551610UL;
long long ll = 1LL << 40;
const char *text = "hello";
char buffer[16] = "buffer";
int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
void *nothing;
node_t *list[3] = {&first, &second, 0};
const volatile int constant = 12;
word words[2] = {1, 2};
int64_t wide = -1;

int add(int x)
{
	static int calls = 3;
	calls++;
	return x + 1;
}

operation op = add;

int work(int argc, char **argv, node_t *p, double scale)
{
	int i = 500;
	float local = 3.5f;
	char letters[4] = "abc";
	int *to = &i;
	node_t copy = second;
	{
		int i = 501;
		counter += i; // STOP
	}
	return add(i) + p->key + local + scale + letters[0] + *to + copy.key;
}

char *arguments[] = {"program", "argument", 0};

int main(void)
{
	return work(2, arguments, &first, 1.5) & 1;
}
