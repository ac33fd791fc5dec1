// Of the stubs of DirectX-Headers, which its d3d12.h includes, where nobody says where they lie.
// SPDX-License-Identifier: MIT
#if __has_include_next(<ocidl.h>)
#include_next <ocidl.h>
#elif __has_include(<wsl/stubs/ocidl.h>)
#include <wsl/stubs/ocidl.h>
#endif
