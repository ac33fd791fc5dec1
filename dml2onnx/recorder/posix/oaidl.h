// Used if the stubs of DirectX-Headers, which its d3d12.h includes, are not in the include path.
// SPDX-License-Identifier: MIT
#if defined(__GNUC__)
#pragma GCC system_header  // #include_next is not standard C++
#endif
#if __has_include_next(<oaidl.h>)
#include_next <oaidl.h>
#elif __has_include(<wsl/stubs/oaidl.h>)
#include <wsl/stubs/oaidl.h>
#endif
