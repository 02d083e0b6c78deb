#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use core::fmt::Debug;
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell { Dead, Alive }
#[derive(Clone, Copy)]
pub struct Grid<T, const W: usize, const H: usize> { cells: [[T; W]; H], generation: u64 }
pub struct Window<'g, T, const W: usize, const H: usize> { grid: &'g Grid<T, W, H>, origin: (isize, isize), size: [usize; 2] }
pub const fn square(n: usize) -> usize { n * n }
const SIDE: usize = square(2);
static GLIDER: [[u8; 3]; 3] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]];
pub static mut TURNS: [u32; SIDE] = [0; SIDE];
impl<const W: usize, const H: usize> Grid<Cell, W, H> {
    fn neighbours(&self, x: usize, y: usize) -> usize {
        let mut n = 0;
        for (dx, dy) in [(W - 1, H - 1), (0, H - 1), (1, H - 1), (W - 1, 0), (1, 0), (W - 1, 1), (0, 1), (1, 1)] {
            n += (self.cells[(y + dy) % H][(x + dx) % W] == Cell::Alive) as usize;
        }
        n
    }
    #[inline(never)]
    fn step(&self) -> Self {
        let mut next = *self;
        let mut born = 0u8; let mut died = 0u8;
        for y in 0..H { for x in 0..W {
            let alive = self.cells[y][x] == Cell::Alive;
            next.cells[y][x] = match (alive, self.neighbours(x, y)) {
                (true, 2 | 3) => Cell::Alive,
                (false, 3) => { born += 1; Cell::Alive }
                _ => { died += alive as u8; Cell::Dead }
            };
        } }
        next.generation += 1;
        unsafe { TURNS[self.generation as usize % SIDE] += 1; }
        core::hint::black_box((&next, &born, &died));
        here!(); // STOP print born; print died; print next; print next.cells; print next.cells[1]; print next.cells[1][2]; print self.generation; print self.cells[0]; print grid::TURNS; print grid::GLIDER; print grid::GLIDER[2][1]; whatis self; whatis next; ptype next; bt 1; print born - died; print next.cells[0][0] == grid::Cell::Dead; print grid::TURNS[0] + 1
        next
    }
}
impl<T: Copy + Default, const W: usize, const H: usize> Window<'_, T, W, H> {
    #[inline(never)]
    fn row(&self, k: isize) -> Option<[T; 2]> {
        let y = self.origin.1 + k; let x = self.origin.0;
        if y < 0 || x < 0 || y as usize >= H { return None; }
        let pair = [self.grid.cells[y as usize][x as usize % W], self.grid.cells[y as usize][(x as usize + 1) % W]];
        core::hint::black_box((&y, &x, &pair));
        here!(); // STOP print y; print x; print pair; print self.origin; print self.origin.0; print self.size; print self.grid; print self.grid.cells; print *self.grid; print k; whatis self; whatis pair; ptype self; bt 1; print self.grid.generation; print pair[0] + pair[1]; print self.size[0] * self.size[1]; print k as usize
        Some(pair)
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut life: Grid<Cell, 5, 5> = Grid { cells: [[Cell::Dead; 5]; 5], generation: 0 };
    for y in 0..3 { for x in 0..3 { if GLIDER[y][x] == 1 { life.cells[y][x] = Cell::Alive; } } }
    let after = life.step();
    let numbers = Grid { cells: [[1i16, 2, 3], [-4, 5, n as i16]], generation: 9 };
    let window = Window { grid: &numbers, origin: (1, 0), size: [2, 2] };
    let row = window.row(1); let none = window.row(-3);
    let letters: Grid<char, 1, 2> = Grid { cells: [['a'], ['b']], generation: u64::MAX }; let empty: Grid<u8, 0, 3> = Grid { cells: [[]; 3], generation: 0 }; let cube = [[[0u8; 2]; 2]; 2];
    core::hint::black_box((&life, &after, &numbers, &window, &row, &none, &letters, &empty, &cube));
    here!(); // STOP print life; print after; print after.cells[2]; print numbers; print numbers.cells[1][2]; print window; print window.grid; print row; print none; print letters; print empty; print cube; print cube[1][0]; whatis life; whatis numbers; whatis window; whatis letters; whatis cube; ptype numbers; ptype letters; ptype window; print grid::TURNS; print sizeof(life); print &numbers.cells; print &numbers.cells[1]; print numbers.cells[0][1] - numbers.cells[1][0]; print life.cells[0]; print/x numbers.cells; print letters.generation; print grid::square; whatis grid::square; print life.cells[4][4] == life.cells[3][3]; print numbers.cells[0][0..2]
    n + row.map_or(0, |r| r[0] as i32 + r[1] as i32) + after.generation as i32 + cube[0].len() as i32
}
