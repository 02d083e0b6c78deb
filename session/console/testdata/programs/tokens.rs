#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{string::String, vec::Vec};
use core::{iter::Peekable, str::CharIndices};
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Name(&'a str),
    Number(u64),
    Symbol(char),
    Text { body: &'a str, quoted: bool },
    End,
}
#[derive(Clone, Copy)]
pub struct Span { start: usize, end: usize }
pub struct Lexer<'a> {
    source: &'a str,
    chars: Peekable<CharIndices<'a>>,
    line: u32,
    last: Option<Span>,
}
impl<'a> Lexer<'a> {
    fn new(source: &'a str) -> Self {
        Lexer { source, chars: source.char_indices().peekable(), line: 1, last: None }
    }
    #[inline(never)]
    fn word(&mut self, start: usize) -> Token<'a> {
        let mut end = start;
        while let Some(&(at, c)) = self.chars.peek() {
            if !c.is_ascii_alphanumeric() { break; }
            end = at + c.len_utf8();
            self.chars.next();
        }
        let word = &self.source[start..end];
        self.last = Some(Span { start, end });
        here!(); // STOP print word; print start; print end; print end - start; print self.source; print self.line; print self.last; whatis self.last; ptype self.last; bt 1; print *self.source.data_ptr; print/c *self.source.data_ptr; whatis word; print word.length == 5; print &self.line
        match word.as_bytes()[0] {
            b'0'..=b'9' => {
                let mut value = 0u64;
                for digit in word.bytes() { value = value * 10 + (digit - b'0') as u64; }
                here!(); // STOP print value; print word; print value * 2; print/x value; whatis value; print value == 12; print value as u8; info locals
                Token::Number(value)
            }
            _ => Token::Name(word),
        }
    }
    #[inline(never)]
    fn next(&mut self) -> Token<'a> {
        loop {
            let Some(&(at, c)) = self.chars.peek() else { return Token::End };
            match c {
                '\n' => { self.line += 1; self.chars.next(); }
                ' ' => { self.chars.next(); }
                'a'..='z' | '0'..='9' => return self.word(at),
                '"' => {
                    self.chars.next();
                    let mut end = at + 1;
                    while let Some((k, q)) = self.chars.next() { end = k; if q == '"' { break; } }
                    return Token::Text { body: &self.source[at + 1..end], quoted: true };
                }
                other => { self.chars.next(); return Token::Symbol(other); }
            }
        }
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut lexer = Lexer::new("count = 12 +\n\"é!\"");
    let mut tokens: Vec<Token> = Vec::with_capacity(8);
    loop {
        let token = lexer.next();
        if token == Token::End { break; }
        tokens.push(token);
    }
    let names = tokens.iter().filter(|t| matches!(t, Token::Name(_))).count();
    let first = tokens[0]; let last = tokens[tokens.len() - 1]; let end = Token::End;
    let mut copy = String::with_capacity(16); if let Token::Name(s) = first { copy.push_str(s); copy.push('ß'); }
    core::hint::black_box((&tokens, &names, &first, &last, &end, &copy, &lexer));
    here!(); // STOP print tokens; print names; print first; print last; print end; print copy; print lexer.line; print lexer.last; ptype first; whatis first; whatis tokens; ptype tokens::Span; ptype tokens::Lexer; print tokens.len; print names + 1; print copy.vec.len; print first.0; print last.body; print last.quoted; whatis lexer; print sizeof(first); print 'é'; print '\n'; print/d 'é'
    n + names as i32 + tokens.len() as i32 + lexer.line as i32 + copy.len() as i32
}
