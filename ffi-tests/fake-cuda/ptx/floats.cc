// The opcodes that compute with floating-point numbers.
//
// Opcodes without `.rn` are not here: ptxas may join a multiplication and an addition that do not say
// how they are rounded.

#include "roots.h"
#include "table.h"

namespace ptx {
namespace {

template <class T> struct BitsOf;
template <> struct BitsOf<f32> {
    typedef u32 Type;
    static constexpr u32 sign = 1u << 31, exponent = 0xffu << 23;
};
template <> struct BitsOf<f64> {
    typedef u64 Type;
    static constexpr u64 sign = 1ull << 63, exponent = 0x7ffull << 52;
};

// What the processor does not flush: the results of operations that only choose or change signs.
template <class T, bool ftz> inline T flushed(T a)
{
    typedef BitsOf<T> B;
    auto b = bits<typename B::Type>(a);
    return ftz && (b & B::exponent) == 0 ? bits<T>(b & B::sign) : a;
}

struct Fused {
    f32 operator()(f32 a, f32 b, f32 c) const { return __builtin_fmaf(a, b, c); }
    f64 operator()(f64 a, f64 b, f64 c) const { return __builtin_fma(a, b, c); }
};
// Towards zero; what is beyond the integers becomes the nearest of them, and what is no number 0.
struct Truncated {
    s32 operator()(f64 a) const
    {
        return a >= 2147483647.0 ? 2147483647 : a <= -2147483648.0 ? -2147483647 - 1 : a == a ? s32(a) : 0;
    }
};
struct Quotient { template <class T> T operator()(T a, T b) const { return a / b; } };
struct Reciprocal { template <class T> T operator()(T a) const { return T(1) / a; } };
struct Root {
    f32 operator()(f32 a) const { return __builtin_sqrtf(a); }
    f64 operator()(f64 a) const { return __builtin_sqrt(a); }
};
template <bool ftz> struct Opposite {
    template <class T> T operator()(T a) const
    {
        return flushed<T, ftz>(bits<T>(bits<typename BitsOf<T>::Type>(a) ^ BitsOf<T>::sign));
    }
};
template <bool ftz> struct Absolute {
    template <class T> T operator()(T a) const
    {
        return flushed<T, ftz>(bits<T>(bits<typename BitsOf<T>::Type>(a) & ~BitsOf<T>::sign));
    }
};
// The one that is a number; -0 is less than 0.
template <bool ftz> struct Smaller {
    template <class T> T operator()(T a, T b) const
    {
        typedef typename BitsOf<T>::Type B;
        T equal = bits<T>(B(bits<B>(a) | bits<B>(b)));
        return flushed<T, ftz>(a < b ? a : b < a ? b : a == b ? equal : a == a ? a : b);
    }
};
template <bool ftz> struct Larger {
    template <class T> T operator()(T a, T b) const
    {
        typedef typename BitsOf<T>::Type B;
        T equal = bits<T>(B(bits<B>(a) & bits<B>(b)));
        return flushed<T, ftz>(a > b ? a : b > a ? b : a == b ? equal : a == a ? a : b);
    }
};
// Comparisons ending in `u` hold where an operand is not a number.
struct UnequalOrdered { template <class T> bool operator()(T a, T b) const { return (a < b) | (a > b); } };
struct EqualUnordered { template <class T> bool operator()(T a, T b) const { return !((a < b) | (a > b)); } };
struct LessUnordered { template <class T> bool operator()(T a, T b) const { return !(a >= b); } };
struct LessEqualUnordered { template <class T> bool operator()(T a, T b) const { return !(a > b); } };
struct GreaterUnordered { template <class T> bool operator()(T a, T b) const { return !(a <= b); } };
struct GreaterEqualUnordered { template <class T> bool operator()(T a, T b) const { return !(a < b); } };

struct Floats : Adder {
    using Adder::Adder;

    // The opcodes of one format, without or with `.ftz`.
    template <class T, bool ftz> void of()
    {
        const std::string rest = std::string(ftz ? "ftz." : "") + name_of<T>();
        const Denormals mode = ftz ? Denormals::flushed : Denormals::kept;
        add2<Add, T, T, T>("add.rn." + rest, mode);
        add2<Subtract, T, T, T>("sub.rn." + rest, mode);
        add2<Multiply, T, T, T>("mul.rn." + rest, mode);
        add3<Fused, T, T, T, T>("fma.rn." + rest, mode);
        add2<Quotient, T, T, T>("div.rn." + rest, mode);
        add1<Reciprocal, T, T>("rcp.rn." + rest, mode);
        add1<Root, T, T>("sqrt.rn." + rest, mode);
        add1<Opposite<ftz>, T, T>("neg." + rest, mode);
        add1<Absolute<ftz>, T, T>("abs." + rest, mode);
        add2<Smaller<ftz>, T, T, T>("min." + rest, mode);
        add2<Larger<ftz>, T, T, T>("max." + rest, mode);
        comparisons<T>(name_of<T>(), ftz ? "ftz." : "", mode);
        add2<UnequalOrdered, bool, T, T>("setp.ne." + rest, mode);
        add2<EqualUnordered, bool, T, T>("setp.equ." + rest, mode);
        add2<Unequal, bool, T, T>("setp.neu." + rest, mode);
        add2<LessUnordered, bool, T, T>("setp.ltu." + rest, mode);
        add2<LessEqualUnordered, bool, T, T>("setp.leu." + rest, mode);
        add2<GreaterUnordered, bool, T, T>("setp.gtu." + rest, mode);
        add2<GreaterEqualUnordered, bool, T, T>("setp.geu." + rest, mode);
    }

    template <class A> void from_integer()
    {
        add1<Convert<f32>, f32, A>(std::string("cvt.rn.f32.") + name_of<A>(), Denormals::kept);
        add1<Convert<f64>, f64, A>(std::string("cvt.rn.f64.") + name_of<A>(), Denormals::kept);
    }
};

// The errors of the approximate roots are drawn as the settings say (roots.h).
template <class T> struct ExactRoot { T operator()(T a) const { return exact_root(a); } };
template <class T> struct WrongRoot { T operator()(T a) const { return wrong_root(a); } };
template <bool masked, class T> void root(Team &t, const Step &s)
{
    if (roots_are_exact())
        one<masked, ExactRoot<T>, T, T>(t, s);
    else
        one<masked, WrongRoot<T>, T, T>(t, s);
}

} // namespace

void add_floats(Table &table)
{
    Floats to(table);
    to.of<f32, false>();
    to.of<f32, true>();
    to.of<f64, false>();
    to.from_integer<s32>();
    to.from_integer<u32>();
    to.from_integer<s64>();
    to.from_integer<u64>();
    to.add1<Convert<f32>, f32, f64>("cvt.rn.f32.f64", Denormals::kept);
    to.add1<Convert<f32>, f32, f64>("cvt.rn.ftz.f32.f64", Denormals::flushed);
    to.add1<Convert<f64>, f64, f32>("cvt.f64.f32", Denormals::kept);
    to.add1<Convert<f64>, f64, f32>("cvt.ftz.f64.f32", Denormals::flushed);
    to.add1<Truncated, s32, f64>("cvt.rzi.s32.f64", Denormals::kept);
    table["rsqrt.approx.f32"] = {root<false, f32>, root<true, f32>, Denormals::kept, "f32 f32"};
    table["rsqrt.approx.ftz.f32"] = {root<false, f32>, root<true, f32>, Denormals::flushed, "f32 f32"};
    table["rsqrt.approx.f64"] = {root<false, f64>, root<true, f64>, Denormals::kept, "f64 f64"};
}

const Operation *arithmetic(const std::string &opcode)
{
    static const Table table = [] {
        Table made;
        add_integers(made);
        add_floats(made);
        return made;
    }();
    auto found = table.find(opcode);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace ptx
