# What every target of the project has in common, in one place.

# Where programs land: build/<preset>/bin.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endif()

# Warnings and sanitizers are ours alone: nothing of this reaches the users of a target.
function(spillway_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
    # GCC's -Wnull-dereference follows inlined code and finds fault with its own library.
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wnull-dereference>
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wdocumentation>
    $<$<BOOL:${SPILLWAY_DEVELOPER_MODE}>:-Werror>)
  if(SPILLWAY_SANITIZERS)
    target_compile_options(${target} PRIVATE
      -fsanitize=${SPILLWAY_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${SPILLWAY_SANITIZERS})
  endif()
endfunction()

# spillway_component(NAME SOURCES a.cpp… [DEPENDS targets…] [PRIVATE_DEPENDS targets…])
# One folder, one static library spillway_NAME with the alias spillway::NAME. Public headers come
# from include/, the project's own ones are included by their path from the root.
function(spillway_component name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(spillway_${name} STATIC ${arg_SOURCES})
  add_library(spillway::${name} ALIAS spillway_${name})
  target_include_directories(spillway_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(spillway_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  set_target_properties(spillway_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                    EXPORT_NAME ${name})
  spillway_target_defaults(spillway_${name})
endfunction()
