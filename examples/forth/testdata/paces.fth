\ What gdb and debug sessions step through, and have to come to the same lines of.

variable counted

: square ( n -- n*n )
  dup
  * ;

: add ( a b -- a+b )
  dup counted +!
  + ;

: fib ( n -- fib )
  dup 2 < if
    exit
  then
  dup 1- recurse
  swap 2 -
  recurse
  add ;

: squares ( n -- sum )
  0 swap 1+
  1 do
    i square
    i 2 mod if
      i 1 add drop
    else
      add
    then
  loop ;

: down ( n -- 0 )
  begin
    dup
  while
    1- dup square drop
  repeat ;

: walk ( -- )
  5 fib .
  4 squares .
  3 down drop
  cr ;

walk
4 fib .
