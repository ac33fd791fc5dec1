// Used if the stubs of DirectX-Headers, which its d3d12.h includes, are not in the include path.
// SPDX-License-Identifier: MIT
#if defined(__GNUC__)
#pragma GCC system_header  // #include_next is not standard C++
#endif
#if __has_include_next(<rpcndr.h>)
#include_next <rpcndr.h>
#elif __has_include(<wsl/stubs/rpcndr.h>)
#include <wsl/stubs/rpcndr.h>
#endif
