#define HERE __asm__ volatile("nop" ::: "memory")
struct Cell { int value; const char *label; Cell() : value(1), label("cell") {} Cell(int v) : value(v), label(v ? "set" : nullptr) {} ~Cell() {} };
struct Sheet { Cell cells[2][3]; const int rows = 2; int (*sizes)[3]; Cell *(&view)[2]; Sheet(int (&s)[3], Cell *(&v)[2]) : sizes(&s), view(v) {} };
template <typename T, int N> constexpr int length(T (&)[N]) { return N; }
static const char *const words[] = {"alpha", "beta", nullptr};
static constexpr unsigned char magic[4] = {0x7f, 'E', 'L', 'F'};
char32_t runes[] = U"r\u00fcn";
char16_t wide[] = u"wide";
wchar_t letters[] = L"wchar";
bool flags[3] = {true, false, true};
long long deep[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
__attribute__((noinline)) int sum(const int (*rows)[3], int count, const Cell (&cells)[3], Sheet *sheet)
{
	int total = 0;
	for (int r = 0; r < count; r++)
		for (int c = 0; c < 3; c++)
			total += rows[r][c] * cells[c].value;
	HERE; // STOP print rows; print *rows; print rows[1]; print rows[1][2]; print *rows@2; print cells; print cells[1]; print cells[1].label; print *sheet; print sheet->cells; print sheet->cells[1]; print sheet->cells[1][2].value; print *sheet->sizes; print (*sheet->sizes)[1]; print sheet->view; print *sheet->view[0]; print sheet->rows; whatis rows; whatis cells; whatis sheet->cells; whatis sheet->sizes; whatis sheet->view; ptype rows; ptype sheet; ptype sheet->view; print &cells[1]; print &sheet->cells[1]; print total; print total == 26; print sizeof(sheet->cells); print sizeof(cells); print &cells[2] - &cells[0]
	return total;
}
extern "C" int run(int n)
{
	int grid[2][3] = {{1, 2, 3}, {4, 5, 6}}, sizes[3] = {7, 8, 9};
	Cell cells[3] = {0, 2, n}, *view[2] = {cells, cells + 1};
	Sheet sheet(sizes, view);
	__asm__ volatile("" : : "r"(&sheet) : "memory");
	int total = sum(grid, 2, cells, &sheet) + length(grid) + length(words);
	HERE; // STOP print grid; print cells; print sheet; print words; print magic; print runes; print wide; print letters; print flags; print deep; print deep[1]; print deep[1][0][1]; print *view[1]; print view; print words[1]; print *words; print words[2]; print magic[1]; print/x magic; print/c magic; print runes[1]; print wide[0]; print letters[1]; print/x flags; whatis grid; whatis words; whatis runes; whatis deep[0]; whatis view; whatis magic; ptype cells; ptype view; print &grid[1]; print *&grid[1]; print grid[1] + 1; print sizeof(grid); print sizeof deep; print grid[0][1] < grid[1][1]; print cells[1].value > 1 && flags[0]; print *cells@2; print cells[0].label; x/6dw grid; x/4xb magic; x/s words[0]; print &runes; print &flags[1]; print *flags@2; print deep[0][1][1] * 2
	return total;
}
