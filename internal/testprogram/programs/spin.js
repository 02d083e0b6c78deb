// Loops forever, five calls deep, in functions that V8 compiled.
let sink = 0;
function spin(n) { let x = n; for (let i = 0; i < 2e6; i++) x = (x * 31 + i) | 0; return x; }
function deep(n) { return n == 0 ? spin(n) : deep(n - 1) + 1; }
for (let i = 0; i < 5; i++) sink += deep(5);
// V8 optimizes at unpredictable times, except on request.
if (process.execArgv.includes("--allow-natives-syntax")) {
  const prepare = new Function("f", "%PrepareFunctionForOptimization(f)");
  const optimize = new Function("f", "%OptimizeFunctionOnNextCall(f)");
  [spin, deep].forEach(prepare);
  sink += deep(5);
  [spin, deep].forEach(optimize);
  sink += deep(5);
}
// V8 writes its jitdump in pieces of two megabytes: force it to write the functions above.
if (process.execArgv.includes("--perf-prof"))
  for (let i = 0; i < 700; i++) sink += new Function("x", "return " + "x*3+".repeat(100) + i)(i) & 1;
console.log("ready");
for (;;) sink += deep(5);
