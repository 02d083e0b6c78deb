#[inline(never)]
fn middle(kind: i32, next: extern "C" fn(i32), more: &mut i32) {
    next(kind);
    *more += 1;
}

#[no_mangle]
pub extern "C" fn rust_step(kind: i32, next: extern "C" fn(i32)) {
    let mut more = 0;
    middle(kind, next, &mut more);
    std::hint::black_box(more);
}
