// Loads, stores and atomic operations: one table of opcodes.

#include <algorithm>

#include "block.h"
#include "table.h"

namespace ptx {
namespace {

enum class Space { parameter, global, shared, local };

template <class T> T get(const u8 *from)
{
    T made;
    std::memcpy(&made, from, sizeof made);
    return made;
}

u64 inside(u64 at, unsigned bytes, u64 size, const char *what)
{
    if (at % bytes != 0)
        throw Wrong(std::string("misaligned access at byte ") + std::to_string(at) + " of " + what);
    if (at > size || bytes > size - at)
        throw Wrong(std::string("access out of bounds at byte ") + std::to_string(at) + " of " + what);
    return at;
}

// Says which thread it was.
template <class F> auto by(Team &team, unsigned lane, const Step &step, F f)
{
    try {
        return f();
    } catch (const Wrong &why) {
        throw Wrong("thread " + std::to_string(team.thread(lane)) + ", line " + std::to_string(step.line) +
                    " of the PTX: " + why.what());
    }
}

// Threads begin to end, of one team, read the same place.
template <Space space> const u8 *read(Team &team, unsigned lane, unsigned end, u64 at, unsigned bytes, bool coherent)
{
    Block &block = team.block;
    const u32 thread = team.thread(lane);
    const bool alone = end == lane + 1;
    if constexpr (space == Space::parameter)
        return block.grid.arguments + inside(at, bytes, block.grid.program.parameter_bytes, "the parameter");
    else if constexpr (space == Space::global)
        return block.global.read(at, bytes, thread, alone, coherent);
    else if constexpr (space == Space::shared)
        return block.shared.read(at, bytes, alone ? thread : several);
    else
        return team.local(lane) + inside(at, bytes, block.grid.program.local_bytes, "local memory");
}

template <class T, Space space, bool coherent> void load(Team &team, const Step &step)
{
    const u64 *base = team.lanes<u64>(step.from[0]);
    const unsigned bytes = unsigned(sizeof(T)) * step.count, width = team.width();
    for (unsigned lane = 0; lane < width;) {
        if (!team.is_active(lane)) {
            ++lane;
            continue;
        }
        const u64 at = base[lane] + step.offset;
        unsigned end = lane + 1;
        if (space != Space::local)
            while (end < width && base[end] + step.offset == at && team.is_active(end))
                ++end;
        const u8 *from = by(team, lane, step, [&] { return read<space>(team, lane, end, at, bytes, coherent); });
        for (unsigned n = 0; n < step.count; ++n) {
            auto *to = team.lanes<typename Lane<T>::Type>(step.vector[n]);
            typename Lane<T>::Raw value = get<T>(from + n * sizeof(T));
            std::fill(to + lane, to + end, value);
        }
        lane = end;
    }
}

template <class T, Space space> void store(Team &team, const Step &step)
{
    const u64 *base = team.lanes<u64>(step.from[0]);
    const unsigned bytes = unsigned(sizeof(T)) * step.count;
    Block &block = team.block;
    for (unsigned lane = 0; lane < team.width(); ++lane) {
        if (!team.is_active(lane))
            continue;
        const u64 at = base[lane] + step.offset;
        u8 *to = by(team, lane, step, [&] {
            if constexpr (space == Space::global)
                return block.global.write(at, bytes, team.thread(lane));
            else if constexpr (space == Space::shared)
                return block.shared.write(at, bytes, team.thread(lane));
            else
                return team.local(lane) + inside(at, bytes, block.grid.program.local_bytes, "local memory");
        });
        for (unsigned n = 0; n < step.count; ++n) {
            T value = static_cast<T>(team.lanes<typename Lane<T>::Type>(step.vector[n])[lane]);
            std::memcpy(to + n * sizeof(T), &value, sizeof value);
        }
    }
}

struct Sum { template <class T> T operator()(T old, T by, T) const { return T(old + by); } };
struct Least { template <class T> T operator()(T old, T by, T) const { return by < old ? by : old; } };
struct Greatest { template <class T> T operator()(T old, T by, T) const { return old < by ? by : old; } };
struct And { template <class T> T operator()(T old, T by, T) const { return old & by; } };
struct Or { template <class T> T operator()(T old, T by, T) const { return old | by; } };
struct Xor { template <class T> T operator()(T old, T by, T) const { return old ^ by; } };
struct Exchange { template <class T> T operator()(T, T by, T) const { return by; } };
struct Increment { template <class T> T operator()(T old, T most, T) const { return old >= most ? 0 : old + 1; } };
struct Swap { template <class T> T operator()(T old, T is, T by) const { return old == is ? by : old; } };

template <class F, class T, bool global, bool returns> void update(Team &team, const Step &step)
{
    const u64 *base = team.lanes<u64>(step.from[0]);
    const T *one = team.lanes<T>(step.from[1]), *two = team.lanes<T>(step.from[2]);
    for (unsigned lane = 0; lane < team.width(); ++lane) {
        if (!team.is_active(lane))
            continue;
        const u64 at = base[lane] + step.offset;
        u8 *place = by(team, lane, step, [&] {
            if constexpr (global)
                return team.block.global.update(at, sizeof(T), team.thread(lane));
            else
                return team.block.shared.update(at, sizeof(T), team.thread(lane));
        });
        T old = get<T>(place), fresh = F()(old, one[lane], two[lane]);
        std::memcpy(place, &fresh, sizeof fresh);
        if (returns)
            team.lanes<T>(step.to)[lane] = old;
    }
}

Table table;

void add(const std::string &opcode, Execute execute) { table[opcode] = {execute, execute, Denormals::any, ""}; }

template <class T> void accesses(const std::string &type)
{
    for (const char *vector : {"", "v2.", "v4."}) {
        const std::string rest = vector + type;
        add("ld.param." + rest, load<T, Space::parameter, false>);
        add("ld.shared." + rest, load<T, Space::shared, false>);
        add("ld.local." + rest, load<T, Space::local, false>);
        add("ld.global." + rest, load<T, Space::global, false>);
        add("ld.global.nc." + rest, load<T, Space::global, false>);
        for (const char *coherent : {"cg", "volatile", "relaxed.gpu", "acquire.gpu"})
            add(std::string("ld.global.") + coherent + "." + rest, load<T, Space::global, true>);
        add("st.shared." + rest, store<T, Space::shared>);
        add("st.local." + rest, store<T, Space::local>);
        add("st.global." + rest, store<T, Space::global>);
        add("st.global.cg." + rest, store<T, Space::global>);
        add("st.volatile.global." + rest, store<T, Space::global>);
    }
}

template <class F, class T> void updates(const std::string &what, const std::string &type)
{
    add("atom.global." + what + "." + type, update<F, T, true, true>);
    add("red.global." + what + "." + type, update<F, T, true, false>);
    add("atom.shared." + what + "." + type, update<F, T, false, true>);
    add("red.shared." + what + "." + type, update<F, T, false, false>);
}

template <class T> void bitwise_updates(const std::string &type)
{
    updates<And, T>("and", type);
    updates<Or, T>("or", type);
    updates<Xor, T>("xor", type);
    updates<Exchange, T>("exch", type);
    updates<Swap, T>("cas", type);
}

template <class T> void integer_updates(const std::string &type)
{
    updates<Sum, T>("add", type);
    updates<Least, T>("min", type);
    updates<Greatest, T>("max", type);
}

void fill()
{
    accesses<u8>("u8");
    accesses<u8>("b8");
    accesses<s8>("s8");
    accesses<u16>("u16");
    accesses<u16>("b16");
    accesses<s16>("s16");
    accesses<u32>("u32");
    accesses<u32>("b32");
    accesses<u32>("s32");
    accesses<u32>("f32");
    accesses<u64>("u64");
    accesses<u64>("b64");
    accesses<u64>("s64");
    accesses<u64>("f64");
    bitwise_updates<u32>("b32");
    bitwise_updates<u64>("b64");
    integer_updates<s32>("s32");
    integer_updates<u32>("u32");
    integer_updates<u64>("u64");
    integer_updates<s64>("s64");
    updates<Increment, u32>("inc", "u32");
}

} // namespace

const Operation *memory_access(const std::string &opcode)
{
    if (table.empty())
        fill();
    auto found = table.find(opcode);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace ptx
