// SPDX-License-Identifier: MIT
// How a list is printed from NVIDIA's declarations.
#define STRUCT(mine, other)         fact(out, #mine, std::to_string(sizeof(other)));
#define MEMBER(mine, other, member) fact(out, #mine "." #member, MEMBER_FACT(other, member));
#define CONST(mine, other)          fact(out, #mine, std::to_string((long long)(other)));
