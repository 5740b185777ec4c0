! Two functions that call each other downwards, in Fortran.
program sums
  implicit none
  integer :: i
  real(8) :: total
  total = 0
  do i = 1, 40
    call outer(i, total)
  end do
  print *, total > 0
end program sums

subroutine outer(n, total)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: total
  integer :: i
  do i = 1, n
    call inner(i, total)
  end do
end subroutine outer

subroutine inner(n, total)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: total
  integer :: i
  do i = 1, 2000
    total = total + sin(real(i * n, 8)) ** 2
  end do
end subroutine inner
