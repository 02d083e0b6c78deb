/* An object that comes after its breakpoints: gcc -g -O0 -c late.c */

int late(int n)
{
	int twice = n * 2;
	return twice + 1;
}
