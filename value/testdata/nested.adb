--  Bounds that stand in the frames of outer procedures. The processor stops in the
--  innermost one.
with Ada.Text_IO; use Ada.Text_IO;
procedure Nested is
   procedure Outer (N : Integer) is
      Limit : Integer := N + 2;
      First : Integer := N;
      type Vector is array (First .. Limit) of Integer;
      procedure Middle is
         M : Vector := (others => 4);
         procedure Inner is
            V : Vector := (others => 5);
         begin
            V (First) := M (Limit);
            Put_Line ("ready");
            delay 1000.0;
            Put_Line (Integer'Image (V (First)));
         end Inner;
      begin
         Inner;
         Put_Line (Integer'Image (M (First)));
      end Middle;
   begin
      Middle;
      Put_Line (Integer'Image (Limit));
   end Outer;
begin
   Outer (2);
end Nested;
