#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec::Vec};
#[derive(Clone, PartialEq)]
pub enum Expr {
    Number(f64),
    Variable { name: char, scale: i32 },
    Unary(Sign, Box<Expr>),
    Binary { op: Operator, left: Box<Expr>, right: Box<Expr> },
    Call(&'static str, Vec<Expr>),
}
#[derive(Clone, Copy, PartialEq)] pub enum Sign { Plus, Minus }
#[derive(Clone, Copy, PartialEq)] pub enum Operator { Sum(Sign), Product, Quotient }
pub enum Problem { Unexpected(u8, usize), End }
pub struct Parser<'t> { text: &'t [u8], at: usize, depth: u8 }
impl<'t> Parser<'t> {
    fn peek(&self) -> Option<u8> { self.text.get(self.at).copied() }
    #[inline(never)]
    fn sum(&mut self) -> Result<Expr, Problem> {
        let mut left = self.product()?;
        while let Some(c @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let sign = if c == b'+' { Sign::Plus } else { Sign::Minus };
            let right = self.product()?;
            core::hint::black_box((&left, &right, &sign));
            here!(); // STOP print left; print right; print sign; print c; print self.at; print self.text; print self.depth; whatis left; whatis sign; print self; print/c c; bt 2; print self.text[0]; print self.at + 1; whatis self; print self.text.length; print sign == parser::Sign::Minus; ptype sign
            left = Expr::Binary { op: Operator::Sum(sign), left: Box::new(left), right: Box::new(right) };
        }
        Ok(left)
    }
    fn product(&mut self) -> Result<Expr, Problem> {
        let mut left = self.atom()?;
        while let Some(c @ (b'*' | b'/')) = self.peek() {
            self.at += 1;
            let op = if c == b'*' { Operator::Product } else { Operator::Quotient };
            left = Expr::Binary { op, left: Box::new(left), right: Box::new(self.atom()?) };
        }
        Ok(left)
    }
    #[inline(never)]
    fn atom(&mut self) -> Result<Expr, Problem> {
        let c = self.peek().ok_or(Problem::End)?;
        self.at += 1;
        match c {
            b'0'..=b'9' => Ok(Expr::Number((c - b'0') as f64)),
            b'a'..=b'z' => Ok(Expr::Variable { name: c as char, scale: 1 }),
            b'-' => Ok(Expr::Unary(Sign::Minus, Box::new(self.atom()?))),
            b'(' => { self.depth += 1; let inner = self.sum(); self.at += 1; inner }
            b'@' => { let argument = self.atom()?; Ok(Expr::Call("sqr", Vec::from([argument]))) }
            other => {
                let problem = Problem::Unexpected(other, self.at - 1);
                core::hint::black_box(&problem);
                here!(); // STOP print other; print problem; print self.at; print/c other; whatis problem; ptype problem; bt 1; print other == 33; print self.text; print self.text[2]
                Err(problem)
            }
        }
    }
}
#[inline(never)]
fn eval(e: &Expr, x: f64) -> f64 {
    match e {
        Expr::Number(n) => *n,
        Expr::Variable { scale, .. } => x * *scale as f64,
        Expr::Unary(Sign::Minus, inner) => -eval(inner, x),
        Expr::Unary(Sign::Plus, inner) => eval(inner, x),
        Expr::Binary { op, left, right } => {
            let (l, r) = (eval(left, x), eval(right, x));
            let value = match op { Operator::Sum(Sign::Plus) => l + r, Operator::Sum(Sign::Minus) => l - r, Operator::Product => l * r, Operator::Quotient => l / r };
            core::hint::black_box((&l, &r, &value, &op));
            here!(); // STOP print l; print r; print value; print op; print *op; print left; print *left; print **left; print e; print *e; print x; whatis op; whatis left; whatis e; bt; print l * r; print value == 2.0; ptype op; up; print x; down
            value
        }
        Expr::Call(_, list) => list.iter().map(|a| { let v = eval(a, x); v * v }).sum(),
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let tree = Parser { text: b"1+a*(b-2)", at: 0, depth: 0 }.sum(); let bad = Parser { text: b"1*!", at: 0, depth: 0 }.sum(); let end = Parser { text: b"-", at: 0, depth: 0 }.sum();
    let Ok(expression) = tree else { return 0 };
    let value = eval(&expression, n as f64 / 2.0); let call = Parser { text: b"@-3", at: 0, depth: 0 }.sum(); let is_same = expression == expression.clone();
    core::hint::black_box((&expression, &bad, &end, &value, &call, &is_same));
    here!(); // STOP print expression; print bad; print end; print value; print call; print is_same; ptype expression; ptype parser::Operator; whatis call; whatis expression; print sizeof(expression); print expression.op; print expression.left; print *expression.left; print *expression.right; print (*expression.right).op; print expression.right.op; print parser::Sign::Plus; print value * 2.0; ptype parser::Problem; print expression.op == expression.op; print expression.nosuch
    n + value as i32 + bad.is_err() as i32 + call.is_ok() as i32 + is_same as i32 + end.is_err() as i32
}
