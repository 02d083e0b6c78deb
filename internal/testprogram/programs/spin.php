<?php
// Loops forever in a function that opcache's JIT compiled.
function spin($n) { $x = 1; for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i) & 0xffff; return $x; }
for ($i = 0; $i < 3; $i++) spin(1000); // until it is compiled
echo "ready\n";
for (;;) spin(100000000);
