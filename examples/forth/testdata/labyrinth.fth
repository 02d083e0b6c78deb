\ A walk into a labyrinth, as deep as the number says, and a pause inside.

variable rooms

: inside ( -- )
  1 rooms +!
  pause ;

: left ( depth -- )
  dup 0= if
    drop inside
  else
    1- recurse
  then ;

: right ( depth -- )
  1 >r
  begin dup 2 mod while 1- repeat
  left
  r> rooms +! ;

: enter ( depth -- )
  2 0 do
    i 1 = if dup right then
  loop drop ;

3 enter
rooms @ . ." rooms" cr
