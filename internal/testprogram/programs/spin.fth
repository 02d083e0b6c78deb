\ Spins three words deep, for ever. It is for tests of generated code that Clew
\ itself published.

: inside ( -- )
  begin 1 while repeat ;

: left ( -- )
  inside 1 drop ;

: enter ( -- )
  left 1 drop ;

." ready" cr
pause
enter
