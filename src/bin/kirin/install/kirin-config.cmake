# find_package(kirin): the targets kirin::kirin and kirin::kirin_static, and kirin::nbody6 for the names of NBODY6's library.

get_filename_component(_kirin_prefix "${CMAKE_CURRENT_LIST_DIR}@UP@" ABSOLUTE)

if(NOT TARGET kirin::kirin)
  # For Fortran, compile ${kirin_FORTRAN_MODULE} with the program.
  set(kirin_FORTRAN_MODULE "${_kirin_prefix}/include/kirin.f90")

  add_library(kirin::kirin SHARED IMPORTED)
  set_target_properties(kirin::kirin PROPERTIES
    IMPORTED_LOCATION "${_kirin_prefix}/@LIBDIR@/libkirin.so"
    IMPORTED_SONAME libkirin.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${_kirin_prefix}/include")

  # What Python's wheel installs has no static library.
  if(EXISTS "${_kirin_prefix}/@LIBDIR@/libkirin.a")
    add_library(kirin::kirin_static STATIC IMPORTED)
    set_target_properties(kirin::kirin_static PROPERTIES
      IMPORTED_LOCATION "${_kirin_prefix}/@LIBDIR@/libkirin.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_kirin_prefix}/include"
      INTERFACE_LINK_LIBRARIES "pthread;${CMAKE_DL_LIBS};rt;m")
  endif()

  if(EXISTS "${_kirin_prefix}/@LIBDIR@/libkirin_nbody6.so")
    add_library(kirin::nbody6 SHARED IMPORTED)
    set_target_properties(kirin::nbody6 PROPERTIES
      IMPORTED_LOCATION "${_kirin_prefix}/@LIBDIR@/libkirin_nbody6.so"
      INTERFACE_LINK_LIBRARIES kirin::kirin)
  endif()
endif()

unset(_kirin_prefix)
