variable rooms

: left ( depth -- )
  1 rooms +!
  dup 0= if drop exit then
  1- recurse ;

: fact ( n -- n! )
  ?dup if
    dup 1- recurse *
  else
    1
  then ;

: greet ( -- ) ." hello" cr ;
