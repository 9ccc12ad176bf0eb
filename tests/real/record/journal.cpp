// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "journal.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace real {

journal::journal(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::runtime_error("cannot write " + path);
}

journal::~journal() { ::close(file_); }

void journal::write(const std::string& line) const {
    const std::string text = line + "\n";
    if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("cannot write to a journal: disk full?");
}

}  // namespace real
