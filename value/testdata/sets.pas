program sets;
{ Sets of Pascal by Free Pascal, for comparison with gdb. }
type
  color = (red, green, blue, white);
  colors = set of color;
  digits = set of 0..31;
  line = array[1..3] of integer;

procedure show(const x: colors; n: integer);
var
  local, none, all: colors;
  numbers: digits;
  letters: set of char;
  some: line;
  yes: boolean;
  one: color;
begin
  local := x + [white];
  none := [];
  all := [red..white];
  numbers := [0, 2, 3, 4, 5, 30, 31];
  letters := ['a'..'c', 'x', '''', #1];
  some[1] := 10; some[2] := 20; some[3] := 30;
  yes := true;
  one := blue;
  writeln(n); { // STOP }
end;

begin
  show([red, blue], 7);
end.
