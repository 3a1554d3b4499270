// The scalar types of PTX, and what all parts of the interpreter share.
#ifndef FAKE_CUDA_PTX_TYPES_H
#define FAKE_CUDA_PTX_TYPES_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ptx {

typedef std::uint8_t u8;
typedef std::uint16_t u16;
typedef std::uint32_t u32;
typedef std::uint64_t u64;
typedef std::int8_t s8;
typedef std::int16_t s16;
typedef std::int32_t s32;
typedef std::int64_t s64;
typedef float f32;
typedef double f64;

// What is wrong with a module, or with what a kernel does.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class To, class From> inline To bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bits are moved, not converted");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

// Bytes of a type such as "f32"; of a predicate 0.
inline unsigned size_of(const std::string &type)
{
    return type == "pred" ? 0 : unsigned(std::stoul(type.substr(1))) / 8;
}

} // namespace ptx

#endif
