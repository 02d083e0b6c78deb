#define HERE __asm__ volatile("nop" ::: "memory")
struct item { int id; char tag; double weight; short codes[3]; };
struct item items[250];
int ramp[300], same[500];
char text[400];
double few[5] = {1, 1, 1, 2, 2};
unsigned long masks[20];
struct item *refs[12];
static int grid[4][5][6];
__attribute__((noinline)) static long fill(struct item *list, int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
		list[i].id = i / 4;
		list[i].tag = 'a' + i % 26;
		list[i].weight = i * 0.5;
		sum += list[i].id;
	}
	HERE; // STOP print list[3]; print list[249].weight; print *list@3; print list->codes; print &list[100]; print list[7].tag; print sum; print n / 7; whatis list[0].codes; print list + 10; print &list[10] - list; print (list + 2)->tag
	return sum;
}
int run(int n)
{
	long sum = fill(items, 250);
	for (int i = 0; i < 300; i++)
		ramp[i] = i;
	for (int i = 0; i < 399; i++)
		text[i] = i < 300 ? 'x' : 'a' + i % 26;
	for (int i = 0; i < 20; i++)
		masks[i] = 1ul << i * 3;
	for (int i = 0; i < 12; i++)
		refs[i] = i % 3 ? &items[i] : 0;
	for (int i = 0; i < 120; i++)
		grid[0][0][i] = i % 7;
	HERE; // STOP print items; print ramp; print same; print text; print few; print masks; print refs; print grid; print grid[1]; print grid[1][2]; print grid[3][4][5]; print *refs[1]; print *ramp@10; print ramp[299]; print &ramp[10]; print ramp[10]@5; print/x masks; print/x *ramp@4; print/c *ramp@70; print &text[390]; print text[390]@9; print items[100]; print items[5].codes; print/d items[2]; ptype grid; whatis grid; whatis grid[0]; whatis &grid; whatis &grid[0][0]; print sizeof(grid); print sizeof items; x/6dw ramp; x/3xg masks; x/s text; x/2dw &grid[1][0][0]; print sum; print/o masks[3]; print few[4] + ramp[4]; print *grid[0]@2; print **grid@2
	return sum;
}
