// From the text of a kernel to steps that can be carried out.

#include "program.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "registers.h"
#include "text.h"

namespace ptx {
namespace {

bool is_wide(const std::string &type) { return size_of(type) == 8; }

std::vector<std::string> words(const std::string &text, char by)
{
    std::vector<std::string> found;
    std::stringstream stream(text);
    for (std::string word; std::getline(stream, word, by);)
        found.push_back(word);
    return found;
}

class Compiler {
public:
    explicit Compiler(Entry from) : entry(std::move(from)), program(std::make_shared<Program>()) {}

    std::shared_ptr<const Program> run()
    {
        program->name = entry.name;
        program->parameter_bytes = entry.parameter_bytes;
        program->threads = entry.threads;
        program->shared_bytes = entry.shared_bytes;
        program->local_bytes = entry.local_bytes;
        for (const Instruction &instruction : entry.instructions) {
            starts.push_back(unsigned(program->steps.size()));
            now = &instruction;
            translate();
            program->opcodes.resize(program->steps.size());
            if (starts.back() < program->steps.size())
                program->opcodes[starts.back()] = instruction.opcode;
        }
        starts.push_back(unsigned(program->steps.size()));
        step(Step::end); // of a text that does not end in `ret`
        program->opcodes.emplace_back();
        for (const auto &[place, label] : jumps) {
            auto found = entry.labels.find(label);
            if (found == entry.labels.end())
                wrong("no label " + label);
            program->steps[place].target = starts[found->second];
        }
        place_registers();
        return program;
    }

private:
    Entry entry;
    std::shared_ptr<Program> program;
    const Instruction *now = nullptr;
    std::vector<unsigned> starts;              // first step of each instruction
    std::map<unsigned, std::string> jumps;     // label by step
    std::vector<Flow> flow;                    // what each step reads and writes
    std::map<std::string, int> constants;      // ids of presets

    [[noreturn]] void wrong(const std::string &what) const
    {
        std::string where = now ? ", line " + std::to_string(now->line) + " of the PTX" : "";
        throw Wrong(entry.name + where + ": " + what);
    }

    Step &step(Step::Kind kind)
    {
        Step made;
        made.kind = kind;
        made.line = now ? now->line : 0;
        flow.emplace_back();
        if (now && now->guard >= 0) {
            made.guarded = true;
            made.negated = now->negated;
            made.guard = u32(now->guard);
            flow.back().reads.push_back(now->guard);
            flow.back().conditional = true;
        }
        program->steps.push_back(made);
        return program->steps.back();
    }

    // A register that is the same in every instruction: a number, a place of memory, %tid.x.
    int preset(const std::string &key, bool wide, u64 bits, const std::string &special)
    {
        auto [known, is_new] = constants.emplace(key, int(entry.registers.size()));
        if (is_new) {
            entry.registers.push_back(wide ? "b64" : "b32");
            program->presets.push_back({u32(known->second), wide, bits, special});
        }
        return known->second;
    }

    // The register that an operand is, or whose number it is.
    int read(const Operand &from, const std::string &type)
    {
        const bool wide = is_wide(type);
        int id = from.id;
        u64 number = from.bits;
        switch (from.kind) {
        case Operand::reg:
            if (is_wide(entry.registers[std::size_t(id)]) != wide)
                wrong("a register of another size than the instruction's");
            break;
        case Operand::special:
            if (wide)
                wrong(from.name + " is no 64-bit register");
            id = preset(from.name, false, 0, from.name);
            break;
        case Operand::symbol: {
            auto found = entry.variables.find(from.name);
            if (found == entry.variables.end() || !wide)
                wrong("what is " + from.name + "?");
            id = preset("address " + std::to_string(found->second.at), true, found->second.at, "");
            break;
        }
        case Operand::number:
            if (from.format != 'i' && (from.format == 'd') != wide)
                wrong("a number of another size than the instruction's");
            if (from.format == 'i' && type[0] == 'f')
                wrong("an integer where a " + type + " belongs");
            if (type == "pred")
                number = number != 0;
            else if (size_of(type) < 4)
                number &= (u64(1) << 8 * size_of(type)) - 1;
            id = preset(std::to_string(number) + (wide ? " wide" : ""), wide, number, "");
            break;
        default:
            wrong("an operand that does not belong here");
        }
        flow.back().reads.push_back(id);
        return id;
    }

    int write(const Operand &to, const std::string &type)
    {
        if (to.kind != Operand::reg || is_wide(entry.registers[std::size_t(to.id)]) != is_wide(type))
            wrong("a result that is no register of that size");
        flow.back().writes.push_back(to.id);
        return to.id;
    }

    void expect(std::size_t count) const
    {
        if (now->operands.size() != count)
            wrong(std::to_string(now->operands.size()) + " operands of " + now->opcode);
    }

    void compute(const Operation &operation, const std::vector<Operand> &operands)
    {
        std::vector<std::string> types = words(operation.shape, ' ');
        if (operands.size() != types.size())
            wrong(std::to_string(operands.size()) + " operands of " + now->opcode);
        Step &made = step(Step::plain);
        made.full = operation.full;
        made.masked = operation.masked;
        made.denormals = operation.denormals;
        for (std::size_t n = 1; n < types.size(); ++n)
            made.from[n - 1] = u32(read(operands[n], types[n]));
        made.to = u32(write(operands[0], types[0]));
    }

    // `mov.b64 {low, high}, x` and `mov.b64 x, {low, high}`
    bool halves()
    {
        if (now->opcode != "mov.b64")
            return false;
        expect(2);
        const Operand &to = now->operands[0], &from = now->operands[1];
        if (to.kind == Operand::list && to.parts.size() == 2) {
            compute(*arithmetic("low half"), {to.parts[0], from});
            compute(*arithmetic("high half"), {to.parts[1], from});
        } else if (from.kind == Operand::list && from.parts.size() == 2) {
            compute(*arithmetic("halves"), {to, from.parts[0], from.parts[1]});
        } else {
            return false;
        }
        return true;
    }

    // `mov.u64 x, %clock64`, the one register that changes by itself
    bool clock()
    {
        if (now->opcode != "mov.u64" || now->operands.size() != 2 || now->operands[1].name != "%clock64")
            return false;
        compute(*arithmetic("clock"), {now->operands[0]});
        return true;
    }

    void address(Step &made, const Operand &at, const std::string &space)
    {
        if (at.kind != Operand::address)
            wrong("no address");
        made.offset = at.bits;
        Operand base = at;
        base.bits = 0;
        base.kind = at.id >= 0 ? Operand::reg : at.name.empty() ? Operand::number : Operand::symbol;
        if (base.kind == Operand::number)
            std::swap(base.bits, made.offset);
        if (base.kind == Operand::symbol && space == "global")
            wrong("variables in global memory are not known: " + at.name);
        made.from[0] = u32(read(base, "u64"));
    }

    // A loaded number may go to a wider register.
    bool is_wider(const Operand &to, const std::string &type) const
    {
        return to.kind == Operand::reg && is_wide(entry.registers[std::size_t(to.id)]) && !is_wide(type) && type[0] != 'f';
    }

    Operand fresh(const std::string &type)
    {
        Operand made;
        made.kind = Operand::reg;
        made.id = int(entry.registers.size());
        entry.registers.push_back(type);
        return made;
    }

    // ld.SPACE[.cg][.vN].TYPE, st, atom, red
    void access(const Operation &operation)
    {
        const std::vector<std::string> parts = words(now->opcode, '.');
        const std::string &what = parts[0], &type = parts.back();
        const bool loads = what == "ld";
        Step &made = step(Step::plain);
        made.full = operation.full;
        made.masked = operation.masked;
        if (what == "ld" || what == "st") {
            expect(2);
            const Operand &data = now->operands[loads ? 0 : 1];
            address(made, now->operands[loads ? 1 : 0], parts[1]);
            std::vector<Operand> items = data.kind == Operand::list ? data.parts : std::vector<Operand>{data};
            made.count = u8(items.size());
            const std::string &vector = parts[parts.size() - 2];
            if (made.count != (vector == "v2" ? 2 : vector == "v4" ? 4 : 1))
                wrong("as many registers as the vector has");
            std::vector<std::pair<Operand, Operand>> widened;
            for (std::size_t n = 0; n < items.size(); ++n) {
                if (loads && is_wider(items[n], type)) {
                    widened.emplace_back(items[n], fresh("b32"));
                    items[n] = widened.back().second;
                }
                made.vector[n] = u32(loads ? write(items[n], type) : read(items[n], type));
            }
            for (const auto &[to, from] : widened)
                compute(*arithmetic(type[0] == 's' ? "cvt.s64.s32" : "cvt.u64.u32"), {to, from});
            return;
        }
        const bool returns = what == "atom", swaps = parts[2] == "cas";
        expect((returns ? 2u : 1u) + (swaps ? 2u : 1u));
        auto operand = now->operands.begin();
        if (returns)
            made.to = u32(write(*operand++, type));
        address(made, *operand++, parts[1]);
        made.from[1] = u32(read(*operand++, type));
        if (swaps)
            made.from[2] = u32(read(*operand, type));
    }

    bool control()
    {
        const std::string &opcode = now->opcode;
        if (opcode == "bra" || opcode == "bra.uni") {
            expect(1);
            step(Step::branch);
            jumps[unsigned(program->steps.size() - 1)] = now->operands[0].name;
        } else if (opcode == "ret" || opcode == "exit") {
            step(Step::end);
        } else if (opcode == "bar.sync" || opcode == "barrier.sync") {
            expect(1);
            only_barrier(now->operands[0]);
            step(Step::barrier);
        } else if (opcode == "bar.red.or.pred") {
            expect(3);
            only_barrier(now->operands[1]);
            Step &made = step(Step::vote);
            made.from[0] = u32(read(now->operands[2], "pred"));
            made.to = u32(write(now->operands[0], "pred"));
        } else if (opcode.compare(0, 10, "shfl.sync.") == 0) {
            shuffle();
        } else if (opcode == "membar.gl" || opcode == "membar.sys" || opcode == "fence.acq_rel.gpu" ||
                   opcode == "fence.sc.gpu") {
            step(Step::fence);
        } else {
            return false;
        }
        if (now->guard >= 0 && opcode != "bra" && opcode != "ret" && opcode != "exit")
            wrong("a barrier, fence or shuffle under a condition");
        return true;
    }

    // shfl.sync.MODE.b32 to[|predicate], value, lane, clamp and segments, members
    void shuffle()
    {
        expect(5);
        const std::string mode = now->opcode.substr(10);
        if (mode != "idx.b32" && mode != "up.b32" && mode != "down.b32" && mode != "bfly.b32")
            wrong("the interpreter does not know " + now->opcode);
        Step &made = step(Step::shuffle);
        made.mode = mode[0];
        for (std::size_t n = 0; n < 3; ++n)
            made.from[n] = u32(read(now->operands[n + 1], "b32"));
        made.vector[0] = u32(read(now->operands[4], "b32"));
        const Operand &to = now->operands[0];
        if (to.kind == Operand::list) {
            made.count = 2;
            made.vector[1] = u32(write(to.parts[1], "pred"));
        }
        made.to = u32(write(to.kind == Operand::list ? to.parts[0] : to, "b32"));
    }

    void only_barrier(const Operand &operand) const
    {
        if (operand.kind != Operand::number || operand.bits != 0)
            wrong("only barrier 0 is known");
    }

    void translate()
    {
        if (control() || halves() || clock())
            return;
        if (const Operation *operation = arithmetic(now->opcode))
            compute(*operation, now->operands);
        else if (const Operation *operation = memory_access(now->opcode))
            access(*operation);
        else
            wrong("the interpreter does not know " + now->opcode);
    }

    // Ids of registers become places in the register file.
    void place_registers()
    {
        for (std::size_t n = 0; n < program->steps.size(); ++n) {
            const Step &at = program->steps[n];
            const bool ends = at.kind == Step::end, jumps_away = at.kind == Step::branch;
            if ((!ends && !jumps_away) || at.guarded)
                flow[n].next.push_back(unsigned(n) + 1);
            if (jumps_away)
                flow[n].next.push_back(at.target);
        }
        std::vector<bool> wide;
        for (const std::string &type : entry.registers)
            wide.push_back(is_wide(type));
        std::vector<int> always;
        for (const Preset &one : program->presets)
            always.push_back(int(one.unit));
        Places places = allocate(flow, wide, always);
        program->units = places.units;
        for (Preset &one : program->presets)
            one.unit = places.of[one.unit];
        for (Step &at : program->steps) {
            auto place = [&](u32 &id) { id = places.of.empty() ? 0 : places.of[id]; };
            place(at.to);
            std::for_each(at.from, at.from + 3, place);
            std::for_each(at.vector, at.vector + 4, place);
            place(at.guard);
        }
    }
};

} // namespace

std::shared_ptr<const Program> compile(const std::string &module, const std::string &name)
{
    return Compiler(parse(module, name)).run();
}

} // namespace ptx
