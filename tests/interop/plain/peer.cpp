#include "peer.hpp"

#include <ostream>
#include <stdexcept>

namespace plain {

namespace {

using namespace std::chrono_literals;

pawl::conformance::launch how_to_start(const library& which, std::uint16_t port) {
    const std::string number = std::to_string(port);
    if (which.language.empty())
        return pawl::conformance::myself_as_helper(
            {"pawl", "redis://127.0.0.1:" + number + "?key=" + which.key});
    const std::string folder = std::string(PAWL_PEERS) + "/" + which.language;
    pawl::conformance::launch how;
    if (which.language == "go")
        how.words = {folder + "/peer"};
    else if (which.language == "js")
        how.words = {"node", folder + "/peer.js"};
    else
        how.words = {"python3", folder + "/peer.py"};
    how.words.push_back(which.argument);
    how.words.push_back(number);
    return how;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const library& which) { return out << which.name; }

peer::peer(const library& which, std::uint16_t port)
    : process_(how_to_start(which, port)), name_(which.name) {
    if (answer() != "ready") throw std::runtime_error(name_ + " does not get ready");
}

std::string peer::ask(const std::string& words) {
    tell(words);
    return answer();
}

void peer::tell(const std::string& words) { process_.send(words); }

std::string peer::answer() {
    auto line = process_.read_line(90s);
    if (!line) throw std::runtime_error("no answer from " + name_);
    return *line;
}

}  // namespace plain
