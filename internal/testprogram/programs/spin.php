<?php
// Spins for ever in a function that opcache's JIT compiled.
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
for ($i = 0; $i < 3; $i++) fib(15); // until it is compiled
echo "ready\n";
for (;;) fib(20);
