--  Arrays, records and numbers, for comparison with gdb.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Command_Line;
with Ada.Strings.Unbounded;
procedure Types is
   type Color is (Red, Green, Blue);
   for Color use (Red => 1, Green => 5, Blue => 9);
   type Day is (Mon, Tue, Wed, Thu, Fri);
   type Letter is ('a', 'b', Other);
   subtype Working is Day range Tue .. Thu;
   type Small is range -5 .. 5;
   type Byte is mod 256;
   type Odd is mod 100;
   type Word is mod 2 ** 64;
   type Money is delta 0.01 digits 10;
   type Volt is delta 0.125 range 0.0 .. 255.0;
   type Fine is delta 0.1 range -10.0 .. 10.0;
   type Ratio is digits 6;
   type Numbers is array (Integer range <>) of Integer;
   type Five is array (1 .. 5) of Integer;
   type From_Zero is array (0 .. 3) of Integer;
   type By_Day is array (Day) of Integer;
   type Part_Of is array (Working) of Character;
   type By_Char is array (Character range 'x' .. 'z') of Integer;
   type By_Bool is array (Boolean) of Integer;
   type Matrix is array (1 .. 2, 1 .. 3) of Integer;
   type Open_Matrix is array (Integer range <>, Integer range <>) of Float;
   type Bits is array (0 .. 9) of Boolean;
   pragma Pack (Bits);
   type Nibbles is array (1 .. 6) of Integer range 0 .. 15;
   pragma Pack (Nibbles);
   type Open_Bits is array (Positive range <>) of Boolean;
   pragma Pack (Open_Bits);
   type Point is record
      X, Y : Integer := 3;
   end record;
   type Points is array (1 .. 2) of Point;
   type Packed is record
      A : Integer range 0 .. 7;
      B : Boolean;
      C : Color;
   end record;
   pragma Pack (Packed);
   type Shape_Kind is (Circle, Square, Nothing);
   type Shape (Kind : Shape_Kind := Nothing) is record
      Id : Integer;
      case Kind is
         when Circle =>
            Radius : Float;
         when Square =>
            Side : Integer;
            Name : String (1 .. 3);
         when Nothing =>
            null;
      end case;
   end record;
   type Buffer (Size : Natural) is record
      Used : Natural;
      Data : String (1 .. Size);
   end record;
   type Node;
   type Link is access Node;
   type Node is record
      Value : Integer;
      Next : Link;
   end record;
   type Str_Access is access String;
   type Arr_Access is access Numbers;
   type Int_Access is access all Integer;
   type Root is tagged record
      Base : Integer := 7;
   end record;
   type Child is new Root with record
      More : Float := 2.5;
   end record;
   type Callback is access procedure (N : Integer);
   type Vector is array (1 .. 4) of Float;
   type Empty is null record;

   Global : Integer := 5;
   procedure Show (S : String; N : Numbers; M : Open_Matrix; B : Open_Bits; R : Root'Class; P : in out Point;
                   Sh : Shape; Buf : Buffer; D : Day := Fri; Fl : Float := 1.0) is
      Copy : String (1 .. S'Length) := S;
      Twice : Numbers (N'Range) := (others => 2);
      Inner : constant Integer := N'Length;
   begin
      P.X := P.X + S'Length + N'Length + Inner + Copy'Length;
      Put_Line (S & Copy & Integer'Image (Twice (N'First)) & Integer'Image (P.X) & Boolean'Image (B (1)) & Float'Image (M (2, 1)));  -- // STOP
      if Ada.Command_Line.Argument_Count > 0 then
         delay 1000.0;
      end if;
      Put_Line (Integer'Image (R.Base + Sh.Id + Buf.Used) & Day'Image (D) & Float'Image (Fl));
   end Show;
   procedure Call (N : Integer) is
   begin
      Global := N;
   end Call;
   function "+" (A, B : Point) return Point is
      R : Point := (A.X + B.X, A.Y + B.Y);
   begin
      Put_Line (Integer'Image (R.X));  -- // STOP
      return R;
   end "+";
   generic
      type T is private;
   procedure Swap (A, B : in out T);
   procedure Swap (A, B : in out T) is
      Tmp : T := A;
   begin
      A := B;
      B := Tmp;
      Put_Line ("swapped");  -- // STOP
   end Swap;
   procedure Int_Swap is new Swap (Integer);
   task type Worker is
      entry Start (N : Integer);
   end Worker;
   task body Worker is
      Mine : Integer := 0;
   begin
      accept Start (N : Integer) do
         Mine := N;
         Put_Line ("started" & Integer'Image (Mine));  -- // STOP
      end Start;
   end Worker;
   procedure Proc (Len : Natural) is
      C : Color := Green;
      W : Day := Wed;
      L : Letter := 'b';
      Sub : Working := Thu;
      Sm : Small := -3;
      By : Byte := 200;
      O : Odd := 99;
      Wo : Word := Word'Last;
      Mo : Money := 12.34;
      V : Volt := 3.375;
      Fi : Fine := 0.5;
      Ra : Ratio := 1.5;
      F : Float := -0.25;
      LF : Long_Float := 1.0e100;
      Ch : Character := 'z';
      Nl : Character := ASCII.LF;
      WCh : Wide_Character := 'w';
      Bo : Boolean := True;
      A5 : Five := (1, 2, 3, 4, 5);
      Z : From_Zero := (10, 11, 12, 13);
      Bd : By_Day := (1, 2, 3, 4, 5);
      Po : Part_Of := "TWt";
      Bch : By_Char := (7, 8, 9);
      Bb : By_Bool := (0, 1);
      Mx : Matrix := ((1, 2, 3), (4, 5, 6));
      Bi : Bits := (1 | 3 | 8 => True, others => False);
      Ni : Nibbles := (1, 2, 3, 4, 15, 6);
      Pt : Point := (1, 2);
      Pts : Points := ((1, 2), (3, 4));
      Pk : Packed := (5, True, Blue);
      S0 : Shape;
      S1 : Shape := (Circle, 1, 1.5);
      S2 : Shape (Square) := (Square, 2, 4, "abc");
      Bf : Buffer := (5, 3, "hello");
      Nd : Link := new Node'(1, null);
      No : Link := null;
      Sa : Str_Access := new String'("pointed");
      Sn : Str_Access := null;
      Aa : Arr_Access := new Numbers'(5 => 50, 6 => 60);
      Gi : aliased Integer := 77;
      Ia : Int_Access := Gi'Unchecked_Access;
      Rt : Root;
      Cd : Child;
      Cb : Callback := null;
      Str : String := "a ""quoted"" text";
      Text : String (1 .. Len) := (others => '*');
      Dyn : Numbers (2 .. Len) := (others => Len);
      Wst : Wide_String := "wide";
      Esc : String := "tab" & ASCII.HT & "nul" & ASCII.NUL & "x";
      Nul : String := "";
      Neg : Numbers (-1 .. 1) := (7, 8, 9);
      Vec : Vector := (1.0, 2.0, 3.0, 4.5);
      Same : Numbers (1 .. 300) := (others => 4);
      Runs : Numbers (1 .. 24) := (12 => 1, 24 => 2, others => 3);
      Run_Of_Ten : Numbers (1 .. 12) := (1 | 12 => 1, others => 3);
      Om : Open_Matrix (2 .. 3, 1 .. 2) := ((1.0, 2.0), (3.0, 4.0));
      Ob : Open_Bits (1 .. 5) := (True, False, True, True, False);
      Us : Ada.Strings.Unbounded.Unbounded_String := Ada.Strings.Unbounded.To_Unbounded_String ("unbounded");
      Em : Empty;
      Task_1 : Worker;
   begin
      Sm := Sm + 1;
      Call (Len);
      Put_Line (Color'Image (C) & Str & Text & Integer'Image (Dyn (2)));  -- // STOP
      Show ("text", Neg, Om, Ob, Cd, Pt, S2, Bf);
      Pt := Pt + Pt;
      Int_Swap (Gi, Z (1));
      Task_1.Start (Len);
      Put_Line (Integer'Image (Ia.all) & Day'Image (W) & Boolean'Image (Bo) & Small'Image (Sm));
   end Proc;
begin
   Proc (4);
   declare
      X : Integer := Global;
   begin
      X := X / (Global - 4);
   exception
      when E : Constraint_Error =>
         Put_Line ("caught");  -- // STOP
   end;
end Types;
