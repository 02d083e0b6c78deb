// Spins for ever, five calls deep, in functions that V8 compiled.
let sink = 0;
function spin(n) { let x = n; for (let i = 0; i < 2e7; i++) x = (x * 31 + i) | 0; return x; }
function deep(n) { return n == 0 ? spin(n) : deep(n - 1) + 1; }
for (let i = 0; i < 20; i++) sink += deep(5);
console.log("ready");
for (;;) sink += deep(5);
