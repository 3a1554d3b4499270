// Takes the text of a kernel apart.

#include "text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "parameters.h"

namespace ptx {
namespace {

const std::size_t absent = std::string::npos;

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

std::string trimmed(const std::string &text)
{
    std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
    return begin == absent ? "" : text.substr(begin, end - begin + 1);
}

// Where `.entry NAME` stands, or `absent`.
std::size_t find_entry(const std::string &module, const std::string &name)
{
    const std::string wanted = ".entry " + name;
    for (std::size_t at = module.find(wanted); at != absent; at = module.find(wanted, at + 1))
        if (at + wanted.size() < module.size() && !is_of_word(module[at + wanted.size()]))
            return at;
    return absent;
}

// The parts between commas that no bracket encloses.
std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (char c : text) {
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == ',' && depth == 0) {
            parts.push_back(trimmed(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trimmed(part).empty())
        parts.push_back(trimmed(part));
    return parts;
}

class Parser {
public:
    Parser(const std::string &module, const std::string &name)
        : text(module), at(find_entry(module, name))
    {
        if (at == absent)
            throw Wrong("no kernel " + name + " in the PTX");
        line = 1 + unsigned(std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n'));
        entry.name = name;
    }

    Entry run()
    {
        std::size_t body = text.find('{', at);
        if (body == absent)
            wrong("a kernel without instructions");
        head(text.substr(at, body - at));
        advance(body + 1);
        scopes.emplace_back();
        while (!scopes.empty())
            statement();
        return std::move(entry);
    }

private:
    // Registers declared between two braces: single ones, and `%f<9>`: %f0 to %f8.
    struct Scope {
        std::map<std::string, std::string> types; // by name, or by prefix
        std::map<std::string, unsigned> counts;   // by prefix
        std::map<std::string, int> ids;
    };

    const std::string &text;
    std::size_t at;
    unsigned line;
    Entry entry;
    std::vector<Scope> scopes;

    [[noreturn]] void wrong(const std::string &what) const
    {
        throw Wrong(entry.name + ", line " + std::to_string(line) + " of the PTX: " + what);
    }

    void advance(std::size_t to)
    {
        line += unsigned(std::count(text.begin() + std::ptrdiff_t(at), text.begin() + std::ptrdiff_t(to), '\n'));
        at = to;
    }

    static unsigned number_after(const std::string &in, const std::string &word, unsigned otherwise)
    {
        std::size_t found = in.find(word);
        return found == absent ? otherwise : unsigned(std::strtoul(in.c_str() + found + word.size(), nullptr, 10));
    }

    void head(const std::string &head)
    {
        const std::vector<Parameter> parameters = parameters_of(head, entry.name);
        for (const Parameter &one : parameters)
            entry.variables[one.name] = {one.at, one.bytes};
        entry.parameter_bytes = bytes_of(parameters);
        std::size_t found = head.find(".maxntid");
        if (found == absent)
            return;
        entry.threads = 1;
        for (const std::string &extent : split(head.substr(found + 8, head.find('\n', found) - found - 8)))
            entry.threads *= unsigned(std::stoul(extent));
    }

    void skip_blanks()
    {
        for (;;) {
            std::size_t next = text.find_first_not_of(" \t\r\n", at);
            if (next == absent)
                wrong("the text ends in a kernel");
            advance(next);
            if (text.compare(at, 2, "//") != 0)
                return;
            advance(std::min(text.find('\n', at), text.size() - 1));
        }
    }

    void statement()
    {
        skip_blanks();
        char c = text[at];
        if (c == '{' || c == '}') {
            if (c == '{')
                scopes.emplace_back();
            else
                scopes.pop_back();
            advance(at + 1);
            return;
        }
        std::size_t end = at;
        while (is_of_word(text[end]))
            ++end;
        if (end > at && text[end] == ':') {
            entry.labels[text.substr(at, end - at)] = unsigned(entry.instructions.size());
            advance(end + 1);
            return;
        }
        end = text.find(';', at);
        if (end == absent)
            wrong("a statement without an end");
        const std::string all = trimmed(text.substr(at, end - at));
        all[0] == '.' ? directive(all) : instruction(all);
        advance(end + 1);
    }

    void directive(const std::string &all)
    {
        if (all.compare(0, 5, ".reg ") == 0)
            return declare(trimmed(all.substr(5)));
        bool shared = all.compare(0, 8, ".shared ") == 0;
        if (!shared && all.compare(0, 7, ".local ") != 0) {
            if (all.compare(0, 7, ".pragma") != 0 && all.compare(0, 4, ".loc") != 0)
                wrong("unknown directive " + all);
            return;
        }
        // .shared .align 4 .b8 name[count]
        unsigned alignment = number_after(all, ".align ", 1);
        std::size_t space = all.find_last_of(" \t");
        std::string name = all.substr(space + 1), type = trimmed(all.substr(0, space));
        unsigned bytes = size_of(type.substr(type.rfind('.') + 1));
        std::size_t bracket = name.find('[');
        if (bracket != absent) {
            bytes *= unsigned(std::stoul(name.substr(bracket + 1)));
            name.resize(bracket);
        }
        unsigned &end = shared ? entry.shared_bytes : entry.local_bytes;
        end = (end + alignment - 1) / alignment * alignment;
        entry.variables[name] = {end, bytes};
        end += bytes;
    }

    // `.f32 %f<9>` or `.b32 %a, %b`
    void declare(const std::string &what)
    {
        std::size_t space = what.find_first_of(" \t");
        std::string type = what.substr(1, space - 1);
        for (const std::string &name : split(what.substr(space))) {
            std::size_t bracket = name.find('<');
            std::string prefix = name.substr(0, bracket);
            scopes.back().types[prefix] = type;
            if (bracket != absent)
                scopes.back().counts[prefix] = unsigned(std::stoul(name.substr(bracket + 1)));
        }
    }

    int lookup(const std::string &name)
    {
        std::size_t digits = name.find_last_not_of("0123456789") + 1;
        const std::string prefix = name.substr(0, digits);
        for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
            auto known = scope->ids.find(name);
            if (known != scope->ids.end())
                return known->second;
            auto type = scope->types.find(name);
            auto count = scope->counts.find(prefix);
            if (type == scope->types.end() && count != scope->counts.end() && digits < name.size() &&
                std::stoul(name.substr(digits)) < count->second)
                type = scope->types.find(prefix);
            if (type == scope->types.end() || (type->first == name && scope->counts.count(name)))
                continue;
            int id = int(entry.registers.size());
            entry.registers.push_back(type->second);
            return scope->ids[name] = id;
        }
        return -1;
    }

    Operand operand(const std::string &word)
    {
        Operand made;
        const char *digits = word.c_str();
        if (word[0] == '{') {
            made.kind = Operand::list;
            for (const std::string &part : split(word.substr(1, word.find('}') - 1)))
                made.parts.push_back(operand(part));
        } else if (word[0] == '[') {
            std::string inside = trimmed(word.substr(1, word.find(']') - 1));
            std::size_t plus = inside.find('+');
            made = operand(trimmed(inside.substr(0, plus)));
            if (plus != absent)
                made.bits = u64(std::strtoll(inside.c_str() + plus + 1, nullptr, 0));
            if (made.kind == Operand::reg)
                made.name.clear();
            made.kind = Operand::address;
        } else if (word.find('|') != absent) {
            // A result and a predicate beside it.
            made.kind = Operand::list;
            made.parts = {operand(trimmed(word.substr(0, word.find('|')))), operand(trimmed(word.substr(word.find('|') + 1)))};
        } else if (word[0] == '%') {
            made.id = lookup(word);
            made.kind = made.id < 0 ? Operand::special : Operand::reg;
            made.name = word;
        } else if (word[0] == '0' && (word[1] == 'f' || word[1] == 'd')) {
            made.format = word[1];
            made.bits = std::strtoull(digits + 2, nullptr, 16);
        } else if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-') {
            made.bits = word[0] == '-' ? u64(0) - std::strtoull(digits + 1, nullptr, 0)
                                       : std::strtoull(digits, nullptr, 0);
        } else {
            made.kind = Operand::symbol;
            made.name = word;
        }
        return made;
    }

    // `@!%p1 bra $L__BB0_1`
    void instruction(std::string all)
    {
        Instruction made;
        made.line = line;
        if (all[0] == '@') {
            std::size_t space = all.find_first_of(" \t");
            made.negated = all[1] == '!';
            made.guard = lookup(all.substr(1 + made.negated, space - 1 - made.negated));
            if (made.guard < 0)
                wrong("a guard that is not declared: " + all);
            all = trimmed(all.substr(space));
        }
        std::size_t space = std::min(all.find_first_of(" \t"), all.size());
        made.opcode = all.substr(0, space);
        for (const std::string &word : split(all.substr(space)))
            made.operands.push_back(operand(word));
        entry.instructions.push_back(std::move(made));
    }
};

} // namespace

bool defines(const std::string &module, const std::string &name)
{
    std::size_t at = find_entry(module, name);
    if (at == absent)
        return false;
    std::size_t next = module.find(".entry ", at + 1);
    return module.find('{', at) < next;
}

Entry parse(const std::string &module, const std::string &name) { return Parser(module, name).run(); }

} // namespace ptx
