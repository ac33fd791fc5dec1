// Of the stubs of DirectX-Headers, which its d3d12.h includes, where nobody says where they lie.
// SPDX-License-Identifier: MIT
#if defined(__GNUC__)
#pragma GCC system_header  // #include_next is no word of the standard
#endif
#if __has_include_next(<ocidl.h>)
#include_next <ocidl.h>
#elif __has_include(<wsl/stubs/ocidl.h>)
#include <wsl/stubs/ocidl.h>
#endif
