// How the table of opcodes that compute is made: each is a loop over the lanes.
#ifndef FAKE_CUDA_PTX_TABLE_H
#define FAKE_CUDA_PTX_TABLE_H

#include <type_traits>
#include <unordered_map>

#include "team.h"

namespace ptx {

typedef std::unordered_map<std::string, Operation> Table;

void add_integers(Table &table);
void add_floats(Table &table);

// How a value lies in its register: what is shorter than 32 bits is extended.
template <class T> struct Lane {
    typedef std::conditional_t<sizeof(T) < 4, u32, T> Raw;
    typedef Raw __attribute__((may_alias)) Type;
};

template <class T> inline T value(typename Lane<T>::Raw raw) { return static_cast<T>(raw); }

template <bool masked, class F, class D, class A> void one(Team &t, const Step &s)
{
    auto *d = t.lanes<typename Lane<D>::Type>(s.to);
    auto *a = t.lanes<typename Lane<A>::Type>(s.from[0]);
    const u32 *m = t.mask();
    const F f{};
    const unsigned n = t.width();
#pragma GCC ivdep
    for (unsigned i = 0; i < n; ++i) {
        typename Lane<D>::Raw v = static_cast<D>(f(value<A>(a[i])));
        d[i] = !masked || m[i] ? v : d[i];
    }
}

template <bool masked, class F, class D, class A, class B> void two(Team &t, const Step &s)
{
    auto *d = t.lanes<typename Lane<D>::Type>(s.to);
    auto *a = t.lanes<typename Lane<A>::Type>(s.from[0]);
    auto *b = t.lanes<typename Lane<B>::Type>(s.from[1]);
    const u32 *m = t.mask();
    const F f{};
    const unsigned n = t.width();
#pragma GCC ivdep
    for (unsigned i = 0; i < n; ++i) {
        typename Lane<D>::Raw v = static_cast<D>(f(value<A>(a[i]), value<B>(b[i])));
        d[i] = !masked || m[i] ? v : d[i];
    }
}

template <bool masked, class F, class D, class A, class B, class C> void three(Team &t, const Step &s)
{
    auto *d = t.lanes<typename Lane<D>::Type>(s.to);
    auto *a = t.lanes<typename Lane<A>::Type>(s.from[0]);
    auto *b = t.lanes<typename Lane<B>::Type>(s.from[1]);
    auto *c = t.lanes<typename Lane<C>::Type>(s.from[2]);
    const u32 *m = t.mask();
    const F f{};
    const unsigned n = t.width();
#pragma GCC ivdep
    for (unsigned i = 0; i < n; ++i) {
        typename Lane<D>::Raw v = static_cast<D>(f(value<A>(a[i]), value<B>(b[i]), value<C>(c[i])));
        d[i] = !masked || m[i] ? v : d[i];
    }
}

template <class T> const char *name_of();
template <> inline const char *name_of<u8>() { return "u8"; }
template <> inline const char *name_of<u16>() { return "u16"; }
template <> inline const char *name_of<u32>() { return "u32"; }
template <> inline const char *name_of<u64>() { return "u64"; }
template <> inline const char *name_of<s8>() { return "s8"; }
template <> inline const char *name_of<s16>() { return "s16"; }
template <> inline const char *name_of<s32>() { return "s32"; }
template <> inline const char *name_of<s64>() { return "s64"; }
template <> inline const char *name_of<f32>() { return "f32"; }
template <> inline const char *name_of<f64>() { return "f64"; }
template <> inline const char *name_of<bool>() { return "pred"; }

struct Add { template <class T> T operator()(T a, T b) const { return T(a + b); } };
struct Subtract { template <class T> T operator()(T a, T b) const { return T(a - b); } };
struct Multiply { template <class T> T operator()(T a, T b) const { return T(a * b); } };
struct Select { template <class T> T operator()(T a, T b, bool p) const { return p ? a : b; } };
struct Same { template <class T> T operator()(T a) const { return a; } };
template <class D> struct Convert { template <class T> D operator()(T a) const { return D(a); } };
struct Equal { template <class T> bool operator()(T a, T b) const { return a == b; } };
struct Unequal { template <class T> bool operator()(T a, T b) const { return a != b; } };
struct Less { template <class T> bool operator()(T a, T b) const { return a < b; } };
struct LessEqual { template <class T> bool operator()(T a, T b) const { return a <= b; } };
struct Greater { template <class T> bool operator()(T a, T b) const { return a > b; } };
struct GreaterEqual { template <class T> bool operator()(T a, T b) const { return a >= b; } };

// Adds opcodes to a table.
class Adder {
public:
    explicit Adder(Table &table) : table(table) {}

    template <class T> static std::string shape() { return name_of<T>(); }
    template <class T, class U, class... More> static std::string shape()
    {
        return shape<T>() + " " + shape<U, More...>();
    }

    // Adds an opcode whose arithmetic is F; D is the type of the result.
    template <class F, class D, class A>
    void add1(const std::string &opcode, Denormals mode = Denormals::any)
    {
        table[opcode] = {one<false, F, D, A>, one<true, F, D, A>, mode, shape<D, A>()};
    }
    template <class F, class D, class A, class B>
    void add2(const std::string &opcode, Denormals mode = Denormals::any)
    {
        table[opcode] = {two<false, F, D, A, B>, two<true, F, D, A, B>, mode, shape<D, A, B>()};
    }
    template <class F, class D, class A, class B, class C>
    void add3(const std::string &opcode, Denormals mode = Denormals::any)
    {
        table[opcode] = {three<false, F, D, A, B, C>, three<true, F, D, A, B, C>, mode, shape<D, A, B, C>()};
    }

    template <class T> void comparisons(const std::string &type, const std::string &ftz, Denormals mode)
    {
        add2<Equal, bool, T, T>("setp.eq." + ftz + type, mode);
        add2<Less, bool, T, T>("setp.lt." + ftz + type, mode);
        add2<LessEqual, bool, T, T>("setp.le." + ftz + type, mode);
        add2<Greater, bool, T, T>("setp.gt." + ftz + type, mode);
        add2<GreaterEqual, bool, T, T>("setp.ge." + ftz + type, mode);
    }

    // mov and selp of all types of the size of T: their bits go the same way.
    template <class T> void moves(std::initializer_list<const char *> types)
    {
        for (const std::string type : types) {
            add1<Same, T, T>("mov." + type);
            table["mov." + type].shape = type + " " + type;
            add3<Select, T, T, T, bool>("selp." + type);
            table["selp." + type].shape = type + " " + type + " " + type + " pred";
        }
    }

protected:
    Table &table;
};

} // namespace ptx

#endif
