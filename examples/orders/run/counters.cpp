// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "counters.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace shop {

shared_counters::shared_counters(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ::ftruncate(fd, sizeof(counters)) != 0)
        throw std::system_error(errno, std::generic_category(), file);
    void* memory = ::mmap(nullptr, sizeof(counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), file);
    counters_ = static_cast<counters*>(memory);
}

shared_counters::~shared_counters() { ::munmap(counters_, sizeof(counters)); }

}  // namespace shop
