#define HERE __asm__ volatile("nop" ::: "memory")
struct point { short x, y; };
static int grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
struct point path[6] = {{1, 2}, {1, 2}, {3, 4}, {3, 4}, {3, 4}, {5, 6}};
long zeros[300];
char text[20] = "a \"b\"\n\t\\\001z", same[40] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
unsigned char raw[] = {0, 1, 127, 128, 255};
double reals[] = {0, -0.0, 1.5, 1e100, 1.0 / 3, -2.5e-7, 123456789.0};
float singles[] = {0.1f, 16777216, 3.4e38f, -1};
int *pointers[3] = {&grid[0][0], &grid[1][2], 0};
const volatile int fixed[2] = {3, 4};
__attribute__((noinline)) static int sum(int rows, int m[][4], struct point *p, int n)
{
	int total = 0;
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < 4; k++)
			total += m[i][k];
	for (int i = 0; i < n; i++) {
		HERE; // STOP print m; print *m; print m[1]; print m[1][2]; print *m@2; print **m@4; print p; print *p; print p[0]; print *p@3; print p[2].y; print &p[2]; print *&p[2]; print &m[1]; print *&m[1]; print p + 1; print *(p + 1); print &p[3] - p; ptype m; whatis m; whatis *m; whatis m[0][0]; whatis &m[1]; whatis &m[1][1]; ptype p; whatis p[0]; x/4dw m; x/2dh p; x/8xb p; x/2xg m; x/3uw m
		total += p[i].x;
	}
	return total;
}
int run(int n)
{
	int length = n + 2, r = sum(3, grid, path, 6);
	char letters[5] = {'h', 'e', 'l', 'l', 'o'};
	int variable[length];
	for (int i = 0; i < length; i++)
		variable[i] = i * i;
	HERE; // STOP print variable; print sizeof(variable); ptype variable; whatis variable; print variable[2]; print *variable@2; print letters; print &letters; print *letters@3; print grid; print path; print zeros; print text; print same; print raw; print reals; print singles; print pointers; print *pointers[1]; print fixed; ptype grid; whatis grid; ptype path; whatis path; whatis grid[0]; print/x grid; print/x raw; print/d raw; print/c raw; print/o raw; print/t raw; print/u raw; print/f reals; print/x reals; print/x path; print grid[1]; print &grid[1]; print *grid[1]@6; print sizeof(grid) / sizeof(grid[0]); print text[3]; print &text[4]; x/s text; x/s same; x/3s text; x/5xb raw; x/2fg reals; x/2fw singles; x/3dw grid; x/2i run; print reals[1]; print reals[3] * 2; print singles[0] + 0.1; print singles[0] * 2; whatis singles[0] + 1; whatis reals[0] * singles[0]; whatis raw[0] + raw[1]; print raw[3] + raw[4]; print (char)raw[4]; print (signed char)raw[3]; whatis fixed; whatis fixed[0]; ptype fixed; print fixed[0] * 2; print -7 / 2; print -7 % 3; print 7 >> 1; print -7 >> 1; print 1.0 / 3; print 100000 * 100000; print 2147483647 + 1; print 4294967295; print 1e10; print 1e-5; print 1.0; print 100.0f; print 3 / 0; print 1.5 == 1.5; print 'A'; print '\n'; print '\0'; print '\377'; print/c 66; print/x 255; print/t 0; print/d 'a'; print/a run; print/c 300; print/x -1; print/f 1; print/f 1.25; print/x 1.9; print/d 2.7; print/s text; print/z 5; print/o 0; print/u -1
	r += variable[n] + letters[0];
	return r;
}
