// SPDX-License-Identifier: MIT
// How a list is printed from our declarations.
#define STRUCT(mine, other)         fact(out, #mine, std::to_string(sizeof(struct mine)));
#define MEMBER(mine, other, member) fact(out, #mine "." #member, MEMBER_FACT(struct mine, member));
#define CONST(mine, other)          fact(out, #mine, std::to_string((long long)(mine)));
