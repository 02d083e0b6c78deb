! What gfortran writes of arrays, strings, kinds and derived types: compared with gdb.
module store
  implicit none
  integer, parameter :: limit = 7
  integer :: counter = 42
  real(8), allocatable :: samples(:)
  character(len=6) :: label = 'module'
  integer, dimension(-1:1, 2) :: corner = reshape([1, 2, 3, 4, 5, 6], [3, 2])
  type point
    real(4) :: x = 1.5
    integer :: tag = 0
  end type
  type, extends(point) :: pixel
    logical(1) :: lit = .true.
    character(len=3) :: name = 'abc'
  end type
  type shape
    integer :: n = 0
    integer, allocatable :: inner(:)
    type(point), allocatable :: corners(:)
    type(point), pointer :: link => null()
    integer, pointer :: row(:) => null()
    character(len=:), allocatable :: title
    integer :: fixed(2, 3) = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  end type
contains
  subroutine take(explicit, assumed, bounded, sized, n, text, fixedtext, lines, section, back)
    integer, intent(in) :: n
    integer, intent(in) :: explicit(2, n)
    real(8), intent(in) :: assumed(:, :)
    integer, intent(in) :: bounded(-2:)
    integer, intent(in) :: sized(*)
    character(len=*), intent(in) :: text
    character(len=4), intent(in) :: fixedtext
    character(len=*), intent(in) :: lines(:)
    integer, intent(in) :: section(:)
    integer, intent(in) :: back(:)
    integer :: automatic(n)
    character(len=n) :: autotext
    integer :: i
    automatic = [(10 * i, i = 1, n)]
    autotext = 'wxyz'
    counter = counter + sum(explicit) + int(sum(assumed)) + sum(bounded) + sized(1) + len(text) + len(fixedtext)
    counter = counter + size(lines) + sum(section) + sum(back) + sum(automatic) + len(autotext)
    print *, counter ! // STOP
    flush (6)
    if (command_argument_count() > 0) call sleep(1000)
  end subroutine

  subroutine optional_args(given, absent, absentarray, result)
    integer, optional, intent(in) :: given
    integer, optional, intent(in) :: absent
    integer, optional, intent(in) :: absentarray(:)
    integer, intent(out) :: result
    result = 0
    if (present(given)) result = given
    if (present(absent)) result = absent
    if (present(absentarray)) result = sum(absentarray)
    print *, result ! // STOP
  end subroutine

  function polymorphic(p) result(area)
    class(point), intent(in) :: p
    real(8) :: area
    area = p%x * 2
    print *, area ! // STOP
  end function

  recursive subroutine callback(f, depth)
    interface
      integer function f(k)
        integer, intent(in) :: k
      end function
    end interface
    integer, value :: depth
    if (depth > 0) then
      call callback(f, depth - 1)
    else
      print *, f(depth) ! // STOP
    end if
  end subroutine
end module

integer function twice(k)
  implicit none
  integer, intent(in) :: k
  twice = 2 * k
end function

program kinds
  use store
  implicit none
  integer(1) :: i1 = -7
  integer(2) :: i2 = 300
  integer(4) :: i4 = -70000
  integer(8) :: i8 = 5000000000_8
  integer(16) :: i16 = -1
  logical(1) :: l1 = .true.
  logical(2) :: l2 = .false.
  logical(4) :: l4 = .true.
  logical(8) :: l8 = .false.
  real(4) :: r4 = 1.25
  real(8) :: r8 = -2.5d10
  complex(4) :: c4 = (1.0, -2.0)
  complex(8) :: c8 = (0.5d0, 3.0d0)
  character :: one = 'q'
  character(len=5) :: word = "it's!"
  character(len=3) :: words(2) = ['abc', 'def']
  character(kind=4, len=3) :: wide = 4_'xyz'
  integer :: vector(5) = [1, 2, 3, 4, 5]
  integer :: matrix(2, 3) = reshape([11, 21, 12, 22, 13, 23], [2, 3])
  integer :: cube(2, 2, 2) = reshape([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2])
  integer :: same(300) = 9
  integer :: negative(-3:-1) = [7, 8, 9]
  integer :: empty(0)
  logical :: flags(3) = [.true., .false., .true.]
  complex(8) :: waves(2) = [(1d0, 2d0), (3d0, 4d0)]
  integer, allocatable :: unset(:), allotted(:), grid(:, :)
  integer, pointer :: nowhere(:), target_ptr(:), strided(:), reversed(:), scalar_ptr, null_scalar
  real(8), allocatable :: scalar_alloc, unset_scalar
  character(len=:), allocatable :: deferred, unset_deferred
  character(len=:), pointer :: deferred_ptr
  integer, target :: pool(10) = [101, 102, 103, 104, 105, 106, 107, 108, 109, 110]
  integer, target :: pool2(4, 4) = 0
  integer, pointer :: block_ptr(:, :)
  character(len=5), target :: strtarget = 'hello'
  type(point) :: here
  type(point) :: several(2)
  type(pixel) :: dot
  type(shape) :: figure
  type(point), target :: there
  type(point), pointer :: point_ptr
  class(point), allocatable :: poly
  integer :: common_a, common_b(3)
  real(8) :: common_c
  integer :: i
  integer, external :: twice
  common /shared/ common_a, common_b, common_c
  common_a = 5
  common_b = [6, 7, 8]
  common_c = 9.5d0
  nullify(nowhere, null_scalar)
  allocate(allotted(3), grid(0:1, 3), samples(2:4))
  allotted = [31, 32, 33]
  grid = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  samples = [0.5d0, 1.5d0, 2.5d0]
  target_ptr => pool(3:5)
  strided => pool(1:10:3)
  reversed => pool(6:2:-2)
  scalar_ptr => pool(4)
  do i = 1, 4
    pool2(:, i) = [i, 10 * i, 100 * i, 1000 * i]
  end do
  block_ptr => pool2(2:3, 1:4:2)
  if (i == 0) then
    allocate(unset(2), unset_scalar)
    unset_deferred = 'x'
  end if
  allocate(scalar_alloc)
  scalar_alloc = 6.25d0
  deferred = 'lengthy'
  deferred_ptr => strtarget(2:4)
  here%x = 3.5
  here%tag = 4
  several(2)%tag = 12
  there%tag = 77
  point_ptr => there
  figure%n = 2
  allocate(figure%inner(2), figure%corners(2))
  figure%inner = [51, 52]
  figure%row => pool(9:10)
  figure%link => there
  figure%title = 'a title'
  allocate(pixel :: poly)
  print *, i1, i2, i4, i8, i16, l1, l2, l4, l8, r4, r8, c4, c8, one, word, words, vector, matrix ! // STOP
  call take(matrix, reshape([1d0, 2d0, 3d0, 4d0], [2, 2]), vector, vector, 3, &
    'some text', word, words, vector(1:5:2), vector(5:1:-1))
  call optional_args(given=4, result=i)
  scalar_alloc = polymorphic(dot)
  scalar_alloc = polymorphic(poly)
  call callback(twice, 2)
  print *, cube, same, negative, empty, flags, waves, wide, several%tag, dot%lit, block_ptr, i ! // STOP
end program
