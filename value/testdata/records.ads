package Records is
   type Volt is delta 0.125 range 0.0 .. 255.0;
   type Numbers is array (Integer range <>) of Integer;
   type Bits is array (0 .. 9) of Boolean;
   pragma Pack (Bits);
   type Text is access String;
   type Root is tagged record
      Base : Integer;
   end record;
   procedure Show (S : String; N : Numbers; R : Root'Class; B : Bits; A : Text);
   procedure Run;
end Records;
