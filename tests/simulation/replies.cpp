#include "replies.hpp"

namespace pawl::simulation {

std::string to_string(const redis::reply& what) {
    using kind = redis::reply::kind;
    switch (what.what) {
    case kind::nil: return "nil";
    case kind::integer: return std::to_string(what.number);
    case kind::string: return '"' + what.text + '"';
    case kind::error: return "error " + what.text.substr(0, what.text.find(' '));
    case kind::array: break;
    }
    std::string text = "[";
    for (const auto& item : what.items) {
        if (text.size() > 1) text += ", ";
        text += to_string(item);
    }
    return text + "]";
}

}  // namespace pawl::simulation
