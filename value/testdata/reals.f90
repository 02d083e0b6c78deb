! Numbers of the kinds of real that gfortran has on x86. They are static, as they have a value.
program reals
  implicit none
  real(16) :: third = 1.0_16 / 3, most = huge(1.0_16), least = tiny(1.0_16)
  complex(16) :: both = (1.25_16, -3.3333333333333333333333333333333333_16)
  real(10) :: tenth = 0.1_10
  complex(10) :: pair = (0.1_10, 2.5_10)
  real(8) :: eighth = 0.1d0
  real(4) :: fourth = 0.1
  print *, third, most, least, both, tenth, pair, eighth, fourth
end program
