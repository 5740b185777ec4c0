! The part in Fortran. It needs the library of Fortran.
function in_fortran(number) bind(c) result(digits)
  use iso_c_binding, only: c_int
  implicit none
  integer(c_int), value :: number
  integer(c_int) :: digits
  character(len=12) :: text
  write (text, '(i12)') number
  digits = merge(1, 0, len_trim(text) == 12)
end function in_fortran
