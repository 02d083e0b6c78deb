! gfortran -g -gdwarf-5 -O1 -fstack-arrays -ffunction-sections -fno-inline -nostdlib -static -no-pie -ffile-prefix-map=$PWD=. -Wl,-e,take_ -Wl,--build-id=none -o dynamic5.elf dynamic.f90
subroutine take(a, b, c, text, r, lines)
  type node
    integer :: n
    integer, allocatable :: inner(:)
    type(node), allocatable :: below(:)
  end type
  integer :: a(:, :)
  integer, allocatable :: b(:)
  integer, pointer :: c(:)
  character(len=*) :: text
  integer :: r(..)
  character(len=*) :: lines(2)
  type(node), save :: tree
  character(len=:), pointer, save :: deferred
  common /block/ x, y
  real :: x, y(-1:1)
  x = a(1, 1) + b(1) + c(2)
  y(0) = x * len(text)
  call other(text, tree%n)
contains
  subroutine other(s, k)
    character(len=*) :: s
    integer :: k
    integer :: local(k)
    local = k
    if (k > 3) x = local(2) + len(s)
  end subroutine
end subroutine
