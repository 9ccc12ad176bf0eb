// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "journal.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace storm {

namespace {

// A sparse file: room for hours, and no more disk than is used.
constexpr std::size_t room = std::size_t{1} << 24;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

int open_file(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw std::runtime_error("cannot write " + path);
    return file;
}

std::string resource_in(const std::string& folder) { return folder + "/resource"; }

// "got KEY TOKEN INVOKED RETURNED DEADLINE", then "at KEY WHEN DEADLINE" as long as the holder
// believed in its lock, "refused KEY" for a write that came too late, "leave KEY" before the
// release, "late KEY" if the lock was found lost. The belief of a killed holder after its last line
// is unknown.
void read_journal(const std::filesystem::path& path, storm_record& result) {
    std::map<std::string, support::hold_record> open;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string verb, key;
        fields >> verb >> key;
        support::hold_record& it = open[key];
        if (verb == "got") {
            fields >> it.token >> it.invoked >> it.returned >> it.deadline;
            it.ended = it.returned;
            it.owner = path.stem().string() + "/" + key;
        } else if (verb == "at") {
            fields >> it.ended >> it.deadline;
        }
        result.late_count += verb == "late" ? 1 : 0;
        result.refused += verb == "refused" ? 1 : 0;
    }
    for (auto& [key, record] : open)
        result.history.holds.push_back(record);
}

}  // namespace

resource::resource(const std::string& folder) {
    const int file = open_file(resource_in(folder), O_RDWR);
    void* shared = MAP_FAILED;
    if (::ftruncate(file, room * sizeof(cell)) == 0)
        shared = ::mmap(nullptr, room * sizeof(cell), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (shared == MAP_FAILED) throw std::runtime_error("cannot share the resource");
    cells_ = static_cast<cell*>(shared);
}

resource::~resource() { ::munmap(cells_, room * sizeof(cell)); }

// The first cell is a hint for the search of the end. A stopped process may set it back, which
// costs time only.
bool resource::accept_token(std::uint64_t token) const {
    std::size_t end = std::max<std::size_t>(cells_[0], 1);
    for (std::uint64_t before = 0; end < room; ++end) {
        std::uint64_t stored = 0;
        before = end > 1 ? cells_[end - 1].load() : 0;
        if (before > token && cells_[end].load() == 0) return false;
        if (before <= token && cells_[end].compare_exchange_strong(stored, token)) {
            cells_[0] = end + 1;
            return true;
        }
    }
    throw std::runtime_error("the storm is too long for its resource");
}

storm_record read_records(const std::string& folder) {
    storm_record result;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().extension() == ".journal") read_journal(each.path(), result);
    std::ifstream file(resource_in(folder), std::ios::binary);
    std::uint64_t token = 0;
    const auto next = [&] {
        return static_cast<bool>(file.read(reinterpret_cast<char*>(&token), sizeof token));
    };
    for (next(); next() && token != 0;)
        result.history.writes.push_back({token, 0});
    return result;
}

bool has_hold(const std::string& journal_path) {
    constexpr std::streamoff enough = 4096;  // some twenty holds
    std::ifstream file(journal_path, std::ios::ate);
    file.seekg(std::max<std::streamoff>(file.tellg() - enough, 0));
    std::set<std::string> open;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string verb, key;
        fields >> verb >> key;
        if (verb == "got") open.insert(key);
        if (verb == "leave") open.erase(key);
    }
    return !open.empty();
}

int count_late(const std::string& journal_path) {
    std::ifstream file(journal_path);
    int count = 0;
    for (std::string line; std::getline(file, line);)
        count += line.starts_with("late ") ? 1 : 0;
    return count;
}

}  // namespace storm
