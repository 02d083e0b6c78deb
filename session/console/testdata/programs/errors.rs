#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, string::String, vec::Vec};
#[derive(Clone, Copy, PartialEq)]
pub enum ParseError { Empty, BadDigit { at: usize, found: char }, Overflow(u8) }
pub enum ConfigError { Missing(&'static str), Parse { key: String, cause: ParseError }, Nested(Box<ConfigError>), Code(i32) }
pub type Parsed<T> = Result<T, ParseError>;
impl From<ParseError> for ConfigError { fn from(cause: ParseError) -> Self { ConfigError::Parse { key: String::from("?"), cause } } }
#[inline(never)]
fn number(text: &str) -> Parsed<u8> {
    if text.is_empty() { return Err(ParseError::Empty); }
    let mut value: u8 = 0;
    for (at, found) in text.char_indices() {
        let Some(digit) = found.to_digit(10) else {
            here!(); // STOP print text; print at; print found; print value; whatis found; bt 1; print at + 1; print found == 'x'
            return Err(ParseError::BadDigit { at, found });
        };
        value = value.checked_mul(10).and_then(|v| v.checked_add(digit as u8)).ok_or(ParseError::Overflow(value))?;
    }
    Ok(value)
}
#[derive(Clone, Copy)]
pub struct Config { width: u8, height: u8, depth: Option<u8> }
#[inline(never)]
fn lookup<'a>(pairs: &[(&'a str, &'a str)], key: &'static str) -> Result<&'a str, ConfigError> {
    let found = pairs.iter().find(|(name, _)| name.len() == key.len() && name.as_bytes()[0] == key.as_bytes()[0]);
    core::hint::black_box(&found);
    here!(); // STOP print pairs; print pairs[0]; print pairs[0].1; print key; print found; whatis pairs; whatis found; ptype found; bt 1; print pairs.length
    match found { Some(&(_, value)) => Ok(value), None => Err(ConfigError::Missing(key)) }
}
#[inline(never)]
fn load(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let width = number(lookup(pairs, "w")?)?;
    let height = lookup(pairs, "h").and_then(|text| number(text).map_err(|cause| ConfigError::Parse { key: String::from("h"), cause }))?;
    let depth = match lookup(pairs, "depth") { Ok(text) => Some(number(text)?), Err(ConfigError::Missing(_)) => None, Err(other) => return Err(ConfigError::Nested(Box::new(other))) };
    let config = Config { width, height, depth };
    core::hint::black_box(&config);
    here!(); // STOP print width; print height; print depth; print config; print config.depth; print pairs; whatis config; ptype config; whatis depth; bt 1; print width as i32 * height as i32; print width + height
    Ok(config)
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let bad = number("1x");
    let good = load(&[("w", "40"), ("h", "30")]); let missing = load(&[("w", "4")]); let wrong = load(&[("w", "4"), ("h", "300")]); let deep = ConfigError::Nested(Box::new(ConfigError::Nested(Box::new(ConfigError::Code(n)))));
    let parsed: Vec<Parsed<u8>> = ["7", "", "999", "z"].iter().map(|t| number(t)).collect(); let all: Result<Vec<u8>, ParseError> = parsed.iter().copied().collect(); let unit: Result<(), u8> = Ok(()); let never: Result<u32, core::convert::Infallible> = Ok(5); let both: Result<Option<u8>, Option<ParseError>> = Err(Some(ParseError::Empty));
    core::hint::black_box((&good, &missing, &wrong, &deep, &parsed, &all, &unit, &never, &both, &bad));
    here!(); // STOP print bad; print good; print missing; print wrong; print deep; print parsed; print parsed[0]; print parsed[2]; print all; print unit; print never; print both; whatis good; ptype good; whatis missing; whatis bad; whatis parsed; ptype errors::ParseError; ptype errors::ConfigError; ptype deep; whatis never; ptype unit; print sizeof(good); print good.0; print good.0.width; print bad.0; print (bad.0).at; print (bad.0).found; print deep.0; print errors::ParseError::Empty; print bad == bad; print n
    n + good.is_ok() as i32 + missing.is_err() as i32 + wrong.is_err() as i32 + parsed.len() as i32 + matches!(deep, ConfigError::Code(_)) as i32
}
