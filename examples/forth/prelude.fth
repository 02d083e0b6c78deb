\ Words that are written in Forth. A program has those of them that it uses.

: cr     10 emit ;
: space  32 emit ;
: spaces 0 max 0 ?do space loop ;

: type ( address count -- )
  0 ?do dup c@ emit 1+ loop drop ;

: (digits) ( u -- )
  10 u/mod ?dup if recurse then
  48 + emit ;

: u. ( u -- )
  (digits) space ;

: . ( n -- )
  dup 0< if 45 emit negate then
  u. ;

: ? ( address -- )
  @ . ;
