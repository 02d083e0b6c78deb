\ Loops forever, three words deep. It is for tests of generated code that Clew
\ itself publishes.

: inside ( -- )
  begin 1 while repeat ;

: left ( -- )
  inside 1 drop ;

: enter ( -- )
  left 1 drop ;

." ready" cr
pause
enter
