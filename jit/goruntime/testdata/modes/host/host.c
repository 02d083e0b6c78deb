// A C program that runs generated code in a library in Go.
extern void run_in_library(void);

int main(void) {
	run_in_library();
	return 0;
}
