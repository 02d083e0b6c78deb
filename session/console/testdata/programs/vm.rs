#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{vec, vec::Vec};
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub enum Binary { Add = 1, Sub, Mul = 10, Less }
#[derive(Clone, Copy)]
pub enum Jump { Always(i16), IfZero(i16) }
#[derive(Clone, Copy)]
pub enum Op { Push(i64), Load(u8), Store(u8), Do(Binary), Go(Jump), Halt }
pub enum Fault { Underflow { pc: usize, op: Op }, Limit }
pub struct Machine<'p> { code: &'p [Op], pc: usize, stack: Vec<i64>, slots: [i64; 4], steps: u32 }
impl Machine<'_> {
    #[inline(never)]
    fn pop(&mut self) -> Result<i64, Fault> {
        match self.stack.pop() {
            Some(v) => Ok(v),
            None => {
                let fault = Fault::Underflow { pc: self.pc, op: self.code[self.pc - 1] };
                here!(); // STOP print self.pc; print fault; print self.stack; print self.code; bt; print self.slots; print self.slots[1]; print self.code[0]; whatis fault; ptype fault; up; print self.pc
                Err(fault)
            }
        }
    }
    #[inline(never)]
    fn binary(&mut self, op: Binary) -> Result<(), Fault> {
        let right = self.pop()?;
        let left = self.pop()?;
        let value = match op {
            Binary::Add => left.wrapping_add(right),
            Binary::Sub => left.wrapping_sub(right),
            Binary::Mul => left.wrapping_mul(right),
            Binary::Less => (left < right) as i64,
        };
        core::hint::black_box((&left, &right, &value));
        here!(); // STOP print op; print left; print right; print value; print left - right; whatis op; ptype op; print op as u8; print self.stack.len; print self.steps; print op == vm::Binary::Sub; print vm::Binary::Mul; print vm::Binary::Mul as i32; bt 1; print left < right; print/x value
        self.stack.push(value);
        Ok(())
    }
    fn run(&mut self) -> Result<i64, Fault> {
        loop {
            self.steps += 1;
            if self.steps > 200 { return Err(Fault::Limit); }
            let op = self.code[self.pc];
            self.pc += 1;
            match op {
                Op::Push(v) => self.stack.push(v),
                Op::Load(k) => self.stack.push(self.slots[(k & 3) as usize]),
                Op::Store(k) => self.slots[(k & 3) as usize] = self.pop()?,
                Op::Do(b) => self.binary(b)?,
                Op::Go(Jump::Always(by)) => self.pc = (self.pc as i64 + by as i64) as usize,
                Op::Go(Jump::IfZero(by)) => if self.pop()? == 0 { self.pc = (self.pc as i64 + by as i64) as usize },
                Op::Halt => return self.pop(),
            }
        }
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let program = vec![
        Op::Push(n as i64), Op::Store(0), Op::Push(1), Op::Store(1),
        Op::Load(0), Op::Go(Jump::IfZero(9)), Op::Load(1), Op::Load(0), Op::Do(Binary::Mul), Op::Store(1),
        Op::Load(0), Op::Push(1), Op::Do(Binary::Sub), Op::Store(0), Op::Go(Jump::Always(-11)),
        Op::Load(1), Op::Push(100), Op::Do(Binary::Less), Op::Halt,
    ];
    let mut empty = Machine { code: &[Op::Do(Binary::Add), Op::Halt], pc: 0, stack: Vec::new(), slots: [0, 7, -7, 9], steps: 0 };
    let failed = empty.run();
    let mut machine = Machine { code: &program, pc: 0, stack: vec![5], slots: [0; 4], steps: 0 };
    let done = machine.run();
    core::hint::black_box((&program, &machine, &done, &failed, &empty));
    here!(); // STOP print program; print program.len; print machine; print done; print failed; whatis program; ptype machine; whatis done; ptype vm::Op; ptype vm::Jump; print machine.slots; print machine.steps; print machine.slots[1] + 1; print sizeof(program); print &machine.slots; print empty.code; print machine.code; whatis machine.code
    machine.steps as i32 + done.is_ok() as i32 + failed.is_err() as i32 + machine.stack.len() as i32
}
