// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "peer.hpp"

#include <ostream>
#include <stdexcept>

namespace plain {

namespace {

using namespace std::chrono_literals;

std::string joined(const std::vector<std::uint16_t>& ports, const std::string& host) {
    std::string text;
    for (const auto each : ports)
        text += (text.empty() ? "" : ",") + host + std::to_string(each);
    return text;
}

pawl::conformance::launch_options launch_options(const library& which,
                                                 const std::vector<std::uint16_t>& ports) {
    if (which.language.empty())
        return pawl::conformance::launch_as_helper({"pawl", url_of(which, ports)});
    const std::string folder = std::string(PAWL_PEERS) + "/" + which.language;
    pawl::conformance::launch_options options;
    if (which.language == "go")
        options.arguments = {folder + "/peer"};
    else if (which.language == "js")
        options.arguments = {"node", folder + "/peer.js"};
    else
        options.arguments = {"python3", folder + "/peer.py"};
    options.arguments.push_back(which.argument);
    options.arguments.push_back(joined(ports, ""));
    return options;
}

}  // namespace

std::string url_of(const library& which, const std::vector<std::uint16_t>& ports) {
    const auto hosts = joined(ports, "127.0.0.1:");
    return (ports.size() == 1 ? "redis://" + hosts + "?" : "redlock://" + hosts + "?fenced=no&") +
           "key=" + which.key;
}

std::ostream& operator<<(std::ostream& out, const library& which) { return out << which.name; }

peer::peer(const library& which, const std::vector<std::uint16_t>& ports)
    : process_(launch_options(which, ports)), name_(which.name) {
    if (read_reply() != "ready") throw std::runtime_error(name_ + " is not ready in time");
}

std::string peer::execute(const std::string& command) {
    send(command);
    return read_reply();
}

void peer::send(const std::string& command) { process_.send(command); }

std::string peer::read_reply() {
    auto line = process_.read_line(90s);
    if (!line) throw std::runtime_error("no reply from " + name_);
    return *line;
}

}  // namespace plain
