// The opcodes that compute with integers, bits and predicates, and those that only move.

#include <chrono>

#include "table.h"

namespace ptx {
namespace {

struct MultiplyAdd { template <class T> T operator()(T a, T b, T c) const { return T(a * b + c); } };
// Twice as wide as its factors.
template <class Wide> struct MultiplyWide {
    template <class T> Wide operator()(T a, T b) const { return Wide(a) * Wide(b); }
};
template <class Wide> struct MultiplyAddWide {
    template <class T> Wide operator()(T a, T b, Wide c) const { return Wide(a) * Wide(b) + c; }
};
template <class T> struct MultiplyHigh {
    T operator()(T a, T b) const
    {
        typedef std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128> Wide;
        return T(Wide(a) * Wide(b) >> 8 * sizeof(T));
    }
};
// What a device makes of a division by zero is nobody's business; here it does not trap.
struct Divide {
    template <class T> T operator()(T a, T b) const
    {
        return b == 0 ? T(-1) : std::is_signed<T>::value && b == T(-1) ? T(0 - a) : T(a / b);
    }
};
struct Remainder {
    template <class T> T operator()(T a, T b) const
    {
        return b == 0 ? a : std::is_signed<T>::value && b == T(-1) ? T(0) : T(a % b);
    }
};
struct Least { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct Greatest { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct Negate { template <class T> T operator()(T a) const { return T(0 - a); } };
struct Magnitude { template <class T> T operator()(T a) const { return a < 0 ? T(0 - a) : a; } };
struct And { template <class T> T operator()(T a, T b) const { return T(a & b); } };
struct Or { template <class T> T operator()(T a, T b) const { return T(a | b); } };
struct Xor { template <class T> T operator()(T a, T b) const { return T(a ^ b); } };
struct Not {
    template <class T> T operator()(T a) const { return T(~a); }
    bool operator()(bool a) const { return !a; }
};
struct ShiftLeft {
    template <class T> T operator()(T a, u32 by) const { return by < 8 * sizeof(T) ? T(a << by) : T(0); }
};
struct ShiftRight {
    template <class T> T operator()(T a, u32 by) const
    {
        constexpr u32 bits = 8 * sizeof(T);
        return by < bits ? T(a >> by) : std::is_signed<T>::value ? T(a >> (bits - 1)) : T(0);
    }
};
struct CountOnes { template <class T> u32 operator()(T a) const { return u32(__builtin_popcountll(a)); } };
struct CountZeros {
    u32 operator()(u32 a) const { return a ? u32(__builtin_clz(a)) : 32; }
    u32 operator()(u64 a) const { return a ? u32(__builtin_clzll(a)) : 64; }
};
struct LowHalf { u32 operator()(u64 a) const { return u32(a); } };
struct HighHalf { u32 operator()(u64 a) const { return u32(a >> 32); } };
struct Halves { u64 operator()(u32 low, u32 high) const { return u64(high) << 32 | low; } };

struct Integers : Adder {
    using Adder::Adder;

    // What depends on whether there is a sign.
    template <class T> void typed()
    {
        const std::string type = name_of<T>();
        add2<Divide, T, T, T>("div." + type);
        add2<Remainder, T, T, T>("rem." + type);
        add2<Least, T, T, T>("min." + type);
        add2<Greatest, T, T, T>("max." + type);
        add2<ShiftRight, T, T, u32>("shr." + type);
        add2<MultiplyHigh<T>, T, T, T>("mul.hi." + type);
        if constexpr (std::is_signed<T>::value) {
            add1<Negate, T, T>("neg." + type);
            add1<Magnitude, T, T>("abs." + type);
        }
    }

    // What does not, for unsigned T.
    template <class T> void untyped(const std::string &type)
    {
        add2<Add, T, T, T>("add." + type);
        add2<Subtract, T, T, T>("sub." + type);
        add2<Multiply, T, T, T>("mul.lo." + type);
        add3<MultiplyAdd, T, T, T, T>("mad.lo." + type);
    }

    template <class T> void bitwise(const std::string &type)
    {
        add2<And, T, T, T>("and." + type);
        add2<Or, T, T, T>("or." + type);
        add2<Xor, T, T, T>("xor." + type);
        add1<Not, T, T>("not." + type);
    }

    template <class T> void shifts_and_tests(const std::string &type)
    {
        add2<ShiftLeft, T, T, u32>("shl." + type);
        add2<Equal, bool, T, T>("setp.eq." + type);
        add2<Unequal, bool, T, T>("setp.ne." + type);
    }

    template <class T> void compared()
    {
        comparisons<T>(name_of<T>(), "", Denormals::any);
        add2<Unequal, bool, T, T>(std::string("setp.ne.") + name_of<T>());
    }

    template <class A> void converted_from()
    {
        converted<A, u8, s8, u16, s16, u32, s32, u64, s64>();
    }
    template <class A, class D, class... More> void converted()
    {
        add1<Convert<D>, D, A>(std::string("cvt.") + name_of<D>() + "." + name_of<A>());
        if constexpr (sizeof...(More) > 0)
            converted<A, More...>();
    }
    template <class... A> void conversions() { (converted_from<A>(), ...); }
};

// Nanoseconds: that of a processor of 1 GHz.
template <bool masked> void clock(Team &t, const Step &s)
{
    auto *d = t.lanes<Lane<u64>::Type>(s.to);
    const u32 *m = t.mask();
    const u64 now = u64(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
    for (unsigned i = 0; i < t.width(); ++i)
        d[i] = !masked || m[i] ? now : d[i];
}

} // namespace

void add_integers(Table &table)
{
    Integers to(table);
    to.moves<u16>({"b16", "u16", "s16"});
    to.moves<u32>({"b32", "u32", "s32", "f32"});
    to.moves<u64>({"b64", "u64", "s64", "f64"});
    to.add1<Same, bool, bool>("mov.pred");
    to.typed<s32>();
    to.typed<u32>();
    to.typed<s64>();
    to.typed<u64>();
    for (const char *type : {"s32", "u32"})
        to.untyped<u32>(type);
    for (const char *type : {"s64", "u64"})
        to.untyped<u64>(type);
    to.compared<s16>();
    to.compared<u16>();
    to.compared<s32>();
    to.compared<u32>();
    to.compared<s64>();
    to.compared<u64>();
    to.bitwise<u16>("b16");
    to.bitwise<u32>("b32");
    to.bitwise<u64>("b64");
    to.bitwise<bool>("pred");
    to.shifts_and_tests<u16>("b16");
    to.shifts_and_tests<u32>("b32");
    to.shifts_and_tests<u64>("b64");
    to.conversions<u8, s8, u16, s16, u32, s32, u64, s64>();
    to.add2<MultiplyWide<s64>, s64, s32, s32>("mul.wide.s32");
    to.add2<MultiplyWide<u64>, u64, u32, u32>("mul.wide.u32");
    to.add3<MultiplyAddWide<s64>, s64, s32, s32, s64>("mad.wide.s32");
    to.add3<MultiplyAddWide<u64>, u64, u32, u32, u64>("mad.wide.u32");
    to.add1<CountOnes, u32, u32>("popc.b32");
    to.add1<CountOnes, u32, u64>("popc.b64");
    to.add1<CountZeros, u32, u32>("clz.b32");
    to.add1<CountZeros, u32, u64>("clz.b64");
    for (const char *space : {"to.global", "to.shared", "to.local", "global", "shared", "local"})
        to.add1<Same, u64, u64>(std::string("cvta.") + space + ".u64");
    // Not of PTX: the two halves of `mov.b64 {low, high}, x`, and the other way.
    to.add1<LowHalf, u32, u64>("low half");
    to.add1<HighHalf, u32, u64>("high half");
    to.add2<Halves, u64, u32, u32>("halves");
    table["clock"] = {clock<false>, clock<true>, Denormals::any, "u64"};
}

} // namespace ptx
