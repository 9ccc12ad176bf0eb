// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outside_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shop {
namespace {

std::string microseconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

outside_memory::outside_memory(const std::string& log)
    : log_(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (log_ < 0) throw std::runtime_error("The log " + log + " cannot be opened.");
    std::ifstream file(log);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        effect done;
        std::string time;
        words >> time >> done.key >> done.resource >> done.token >> std::ws;
        std::getline(words, done.body);
        if (done.key == "-") done.key.clear();
        remember(done);
    }
}

outside_memory::~outside_memory() { ::close(log_); }

answer outside_memory::apply(const effect& wanted, bool& is_first) {
    is_first = false;
    if (const auto known = answers_.find(wanted.key); known != answers_.end())
        return {200, known->second};
    const auto newest = newest_tokens_.find(wanted.resource);
    if (newest != newest_tokens_.end() && wanted.token != 0 && wanted.token < newest->second)
        return {412, "a larger token has written"};
    const std::string line = microseconds_now() + ' ' + (wanted.key.empty() ? "-" : wanted.key) +
                             ' ' + wanted.resource + ' ' + std::to_string(wanted.token) + ' ' +
                             wanted.body + '\n';
    if (::write(log_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error("The log cannot be written.");
    is_first = newest == newest_tokens_.end();
    remember(wanted);
    return {200, wanted.body};
}

void outside_memory::remember(const effect& done) {
    if (!done.key.empty()) answers_.emplace(done.key, done.body);
    auto& newest = newest_tokens_[done.resource];
    newest = std::max(newest, done.token);
}

}  // namespace shop
