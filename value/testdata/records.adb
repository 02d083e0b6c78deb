--  gcc -c -g -gdwarf-5 -O1 -gnatp -ffunction-sections -fno-inline -ffile-prefix-map=$PWD=. records.adb
--  ld -static -e records__run --unresolved-symbols=ignore-all -o records5.elf records.o
package body Records is
   type Kind is (Circle, Square, 'x');
   type Shape (K : Kind; N : Natural) is record
      Id : Integer;
      Data : String (1 .. N);
      case K is
         when Circle | 'x' =>
            Radius : Float;
         when Square =>
            Side : Integer;
            Level : Volt;
      end case;
   end record;
   Last : Integer := 0;
   procedure Show (S : String; N : Numbers; R : Root'Class; B : Bits; A : Text) is
      procedure Inner (K : Integer) is
         Own : Numbers (2 .. K) := (others => K);
      begin
         Last := Last + Own (2) + N (N'First);
      end Inner;
   begin
      Last := S'Length + N'Length + R.Base + Boolean'Pos (B (3)) + A'Length;
      Inner (Last);
   end Show;
   procedure Take (Sh : in out Shape) is
   begin
      Sh.Id := Last;
      Show (Sh.Data, (1, 2), Root'(Base => 1), (others => True), null);
   end Take;
   Kept : Shape (Square, 3);
   procedure Run is
   begin
      Take (Kept);
   end Run;
end Records;
