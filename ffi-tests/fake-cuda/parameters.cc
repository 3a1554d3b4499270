// Finds the parameters of a kernel in the text of its module.

#include "parameters.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

std::vector<Parameter> parameters_of(const std::string &text, const std::string &name)
{
    std::vector<Parameter> found;
    const std::string entry = ".entry " + name + "(";
    std::size_t begin = text.find(entry);
    if (begin == std::string::npos)
        return found;
    begin += entry.size();
    // `.param .align 8 .b8 NAME_param_0[24],` or `.param .u64 NAME_param_0,`
    std::stringstream list(text.substr(begin, text.find(')', begin) - begin));
    for (std::string one; std::getline(list, one, ',');) {
        std::stringstream words(one);
        unsigned alignment = 0, bytes = 0;
        std::string word, last;
        while (words >> word) {
            if (last == ".align")
                alignment = unsigned(std::stoul(word));
            else if (word[0] == '.' && std::isdigit(static_cast<unsigned char>(word.back())))
                bytes = unsigned(std::strtoul(word.c_str() + 2, nullptr, 10)) / 8;
            last = word;
        }
        if (bytes == 0)
            continue; // a kernel without parameters
        alignment = alignment ? alignment : bytes;
        const std::size_t bracket = last.find('[');
        if (bracket != std::string::npos)
            bytes *= unsigned(std::stoul(last.substr(bracket + 1)));
        const unsigned end = bytes_of(found);
        found.push_back({last.substr(0, bracket), (end + alignment - 1) / alignment * alignment, bytes});
    }
    return found;
}

unsigned bytes_of(const std::vector<Parameter> &parameters)
{
    return parameters.empty() ? 0 : parameters.back().at + parameters.back().bytes;
}
