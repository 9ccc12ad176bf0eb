// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "resource.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace real {

namespace {

// An open file under flock(2), which the kernel ends together with the process.
class locked_file {
public:
    explicit locked_file(const std::string& path)
        : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (file_ < 0) throw std::runtime_error("cannot open " + path);
        while (::flock(file_, LOCK_EX) != 0)
            if (errno != EINTR) throw std::runtime_error("cannot lock " + path);
    }
    locked_file(const locked_file&) = delete;
    locked_file& operator=(const locked_file&) = delete;
    ~locked_file() { ::close(file_); }

    [[nodiscard]] access_record last() const {
        access_record record;
        if (const auto size = length(); size >= off_t{sizeof record})
            if (::pread(file_, &record, sizeof record, size - off_t{sizeof record}) !=
                ssize_t{sizeof record})
                throw std::runtime_error("cannot read the resource");
        return record;
    }
    void append(const access_record& record) const {
        if (::pwrite(file_, &record, sizeof record, length()) != ssize_t{sizeof record})
            throw std::runtime_error("cannot write the resource: disk full?");
    }

private:
    [[nodiscard]] off_t length() const {
        struct stat facts {};
        if (::fstat(file_, &facts) != 0) throw std::runtime_error("cannot read the resource");
        return facts.st_size;
    }

    int file_;
};

}  // namespace

std::uint64_t least_token(access kind, const access_record& last) noexcept {
    return kind == access::look ? last.largest_writer
                                : std::max(last.largest_writer, last.largest_reader);
}

resource::resource(const std::string& path, bool checks_tokens)
    : path_(path), checks_tokens_(checks_tokens) {}

resource::~resource() = default;

std::optional<std::uint64_t> resource::read(std::uint64_t hold, std::uint64_t token) {
    return append({.kind = access::read, .hold = hold, .token = token});
}

bool resource::write(std::uint64_t hold, std::uint64_t token, std::uint64_t value) {
    return append({.kind = access::write, .hold = hold, .token = token, .value = value})
        .has_value();
}

std::optional<std::uint64_t> resource::look(std::uint64_t hold, std::uint64_t token) {
    return append({.kind = access::look, .hold = hold, .token = token});
}

std::optional<std::uint64_t> resource::append(access_record record) {
    const locked_file file(path_);
    const auto last = file.last();
    if (checks_tokens_ && record.token < least_token(record.kind, last)) return std::nullopt;
    record.largest_writer = last.largest_writer;
    record.largest_reader = last.largest_reader;
    auto& largest = record.kind == access::look ? record.largest_reader : record.largest_writer;
    largest = std::max(record.token, largest);
    if (record.kind != access::write) record.value = last.value;
    file.append(record);
    return record.value;
}

bool resource::is_busy(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;  // not used yet
    const bool busy = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return busy;
}

std::vector<access_record> resource::load(const std::string& path) {
    std::vector<access_record> records;
    std::ifstream file(path, std::ios::binary);
    for (access_record record;
         file.read(reinterpret_cast<char*>(&record), sizeof record);)  // its own process wrote it
        records.push_back(record);
    return records;
}

void resource::begin_with(const std::string& path, access_record last) {
    last.kind = access::read;
    last.hold = continued_hold;
    locked_file(path).append(last);
}

}  // namespace real
