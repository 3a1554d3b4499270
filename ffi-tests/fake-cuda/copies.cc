// Copies and fills. Both ends are checked when the call is made.

#include <cstring>

#include "calls.h"

namespace {

typedef std::uintptr_t Address;

bool on_device(Device *device, Address begin, std::size_t bytes)
{
    const Allocation *a = holding(begin, bytes);
    if (a && a->owner == device && !a->freed)
        return true;
    complain(!a ? "a copy lies outside of every allocation"
             : a->freed ? "a copy uses freed memory"
                        : "a copy uses memory of another device or of the host as this device's");
    return false;
}

// Pinned memory is used when the copy happens; other memory of the host during the call.
enum class Host { wrong, pinned, pageable };

Host on_host(Address begin, std::size_t bytes)
{
    const Allocation *a = holding(begin, bytes);
    if (a && !a->owner && !a->freed)
        return Host::pinned;
    if (!a && !touches(begin, bytes))
        return Host::pageable;
    complain("a copy's end on the host overlaps an allocation that does not hold it, is freed or "
             "is a device's");
    return Host::wrong;
}

void move(Address to, Address from, std::size_t bytes)
{
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
}

typedef std::function<CUresult(Stream *)> OnStream;

CUresult copy(const char *name, std::size_t bytes, CUstream handle, const OnStream &body)
{
    return call_current(name, [&](Device *) -> CUresult {
        Stream *stream = find_stream(handle);
        if (!stream)
            return INVALID_HANDLE;
        note(std::to_string(bytes));
        return bytes == 0 ? CUresult(SUCCESS) : body(stream);
    });
}

CUresult upload(Stream *stream, Address to, Address from, std::size_t bytes)
{
    Host host = on_host(from, bytes);
    if (host == Host::wrong || !on_device(current(), to, bytes))
        return INVALID_VALUE;
    if (host == Host::pinned)
        return enqueue(stream, [=] { return move(to, from, bytes), SUCCESS; });
    auto begin = reinterpret_cast<const char *>(from);
    std::vector<char> staged(begin, begin + bytes);
    return enqueue(stream, [=] {
        std::memcpy(reinterpret_cast<void *>(to), staged.data(), bytes);
        return SUCCESS;
    });
}

CUresult download(Stream *stream, Address to, Address from, std::size_t bytes)
{
    Host host = on_host(to, bytes);
    if (host == Host::wrong || !on_device(current(), from, bytes))
        return INVALID_VALUE;
    CUresult code = enqueue(stream, [=] { return move(to, from, bytes), SUCCESS; });
    return code == SUCCESS && host == Host::pageable ? drain(stream) : code;
}

CUresult between(Stream *stream, Address to, Address from, std::size_t bytes)
{
    if (!on_device(current(), to, bytes) || !on_device(current(), from, bytes))
        return INVALID_VALUE;
    return enqueue(stream, [=] { return move(to, from, bytes), SUCCESS; });
}

template <class T> CUresult fill(Stream *stream, Address to, T value, std::size_t count)
{
    if (to % sizeof(T) != 0 || !on_device(current(), to, count * sizeof(T)))
        return INVALID_VALUE;
    return enqueue(stream, [=] {
        for (std::size_t i = 0; i < count; i++)
            reinterpret_cast<T *>(to)[i] = value;
        return SUCCESS;
    });
}

// The synchronous form: on stream 0, and over when it returns.
CUresult now(const char *name, std::size_t bytes, const OnStream &body)
{
    return copy(name, bytes, nullptr, [&](Stream *stream) {
        CUresult code = body(stream);
        return code ? code : drain(stream);
    });
}

Address address(const void *p) { return reinterpret_cast<Address>(p); }

} // namespace

CALL(cuMemcpyHtoD_v2, CUdeviceptr to, const void *from, std::size_t bytes)
{
    return now(__func__, bytes, [=](Stream *s) { return upload(s, to, address(from), bytes); });
}

CALL(cuMemcpyDtoH_v2, void *to, CUdeviceptr from, std::size_t bytes)
{
    return now(__func__, bytes, [=](Stream *s) { return download(s, address(to), from, bytes); });
}

CALL(cuMemcpyDtoD_v2, CUdeviceptr to, CUdeviceptr from, std::size_t bytes)
{
    return now(__func__, bytes, [=](Stream *s) { return between(s, to, from, bytes); });
}

CALL(cuMemcpyHtoDAsync_v2, CUdeviceptr to, const void *from, std::size_t bytes, CUstream stream)
{
    return copy(__func__, bytes, stream,
                [=](Stream *s) { return upload(s, to, address(from), bytes); });
}

CALL(cuMemcpyDtoHAsync_v2, void *to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return copy(__func__, bytes, stream,
                [=](Stream *s) { return download(s, address(to), from, bytes); });
}

CALL(cuMemcpyDtoDAsync_v2, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    return copy(__func__, bytes, stream, [=](Stream *s) { return between(s, to, from, bytes); });
}

CALL(cuMemsetD8_v2, CUdeviceptr to, unsigned char value, std::size_t count)
{
    return now(__func__, count, [=](Stream *s) { return fill(s, to, value, count); });
}

CALL(cuMemsetD8Async, CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream)
{
    return copy(__func__, count, stream, [=](Stream *s) { return fill(s, to, value, count); });
}

CALL(cuMemsetD32_v2, CUdeviceptr to, unsigned value, std::size_t count)
{
    return now(__func__, count, [=](Stream *s) { return fill(s, to, value, count); });
}

CALL(cuMemsetD32Async, CUdeviceptr to, unsigned value, std::size_t count, CUstream stream)
{
    return copy(__func__, count, stream, [=](Stream *s) { return fill(s, to, value, count); });
}
