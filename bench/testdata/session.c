/* What gdb and Clew debug in turn: scripts/bench compiles it, for gdb links it. */
int counter;

void hit(int n)
{
	counter += n;
}

int spin(int n)
{
	for (int i = 0; i < n; i++)
		hit(i);
	return counter;
}

int main(void)
{
	return spin(2000000000);
}
