// SPDX-License-Identifier: MIT
// Prints facts of an interface, one "name = value" a line. The same lists (*.def, *_symbols.h) are
// printed once from our declarations and once from NVIDIA's; main.cc compares the two. C++, because
// templates can tell a function's parameters, and because one of NVIDIA's headers needs it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

// How an argument is passed and, for a pointer to a number, how much is written through it. The
// sizes of structures are compared by name elsewhere.
template <class T> std::string kind()
{
    if constexpr (std::is_void_v<T>) {
        return "void";
    } else if constexpr (std::is_pointer_v<T>) {
        using P = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_arithmetic_v<P> || std::is_enum_v<P>)
            return "*" + std::to_string(sizeof(P));
        else if constexpr (std::is_pointer_v<P>)
            return "**";
        else
            return "*";
    } else if constexpr (std::is_floating_point_v<T>) {
        return "f" + std::to_string(sizeof(T));
    } else {
        return std::to_string(sizeof(T));
    }
}

template <class F> struct function;
template <class R, class... A> struct function<R(A...)> {
    static std::string signature()
    {
        std::string s = kind<R>() + " (";
        ((s += " " + kind<A>()), ...);
        return s + " )";
    }
};

inline void fact(std::string &out, const char *name, const std::string &value)
{
    out += std::string(name) + " = " + value + "\n";
}

#define MEMBER_FACT(type, member)                                                                  \
    (std::to_string(offsetof(type, member)) + ", " + std::to_string(sizeof(((type *)0)->member)))

#define FUNCTION(name) fact(out, #name, function<decltype(name)>::signature());

// Filled by ours_*.cc and theirs_*.cc. theirs returns why it cannot say, or NULL.
void ours(std::string &out);
const char *theirs(std::string &out);
