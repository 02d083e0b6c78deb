\ The program of clew demo: a walk into a labyrinth, and a wait inside.

variable rooms  \ how many were seen

: minotaur ( -- )
  pause ;

: left ( depth -- )
  1 rooms +!
  dup 0= if drop minotaur exit then
  1- recurse ;

\ Two turns, counted on the machine's stack.
: right ( depth -- )
  2 0 do
    i if dup left then
  loop drop ;

: labyrinth ( depth -- )
  dup >r
  right
  r> rooms +! ;

\ All rooms of a labyrinth whose every room has two doors.
: wander ( depth -- )
  1 rooms +!
  dup if
    dup 1- recurse
    dup 1- recurse
  then drop ;
