// Of the stubs of DirectX-Headers, which its d3d12.h includes, where nobody says where they lie.
// SPDX-License-Identifier: MIT
#if __has_include_next(<winapifamily.h>)
#include_next <winapifamily.h>
#elif __has_include(<wsl/stubs/winapifamily.h>)
#include <wsl/stubs/winapifamily.h>
#endif
