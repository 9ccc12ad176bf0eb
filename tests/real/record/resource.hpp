// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The resource that a lock guards: a number in a file. A holder reads it, works, and writes what it
// has read plus 1, as a program does that does not trust transactions but a lock.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace real {

// A writer reads before it writes. A reader looks, perhaps several times.
enum class access : std::uint64_t { read, write, look };

// An accepted access. The file is the list of them; the last is the state.
struct access_record {
    access kind = access::read;
    std::uint64_t hold = 0;
    std::uint64_t token = 0;
    std::uint64_t largest_writer = 0;  // the largest token accepted so far, with this
    std::uint64_t largest_reader = 0;  // the same of readers
    std::uint64_t value = 0;           // afterwards
};

// Of the access with which a file continues another: clients count their holds anew.
inline constexpr std::uint64_t continued_hold = std::numeric_limits<std::uint64_t>::max();

// The least token that a resource that checks tokens accepts after `last`.
[[nodiscard]] std::uint64_t least_token(access kind, const access_record& last) noexcept;

class resource {
public:
    // With `checks_tokens` it refuses a smaller token than the largest of a writer so far. It also
    // refuses a writer with a smaller token than the largest of a reader. Readers of one group may
    // have different tokens, so theirs are not compared.
    resource(const std::string& path, bool checks_tokens);
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    ~resource();

    // The value; empty: refused. A read also registers the token, otherwise an earlier holder could
    // still write between the read and the write of a later one.
    std::optional<std::uint64_t> read(std::uint64_t hold, std::uint64_t token);
    // False: refused.
    bool write(std::uint64_t hold, std::uint64_t token, std::uint64_t value);
    // A reader's value; empty: refused.
    std::optional<std::uint64_t> look(std::uint64_t hold, std::uint64_t token);

    // Whether a process is within an access now. A process that is stopped there blocks others.
    [[nodiscard]] static bool is_busy(const std::string& path);
    [[nodiscard]] static std::vector<access_record> load(const std::string& path);
    // Continues another file, whose last access was `last`: the new file has the same state.
    static void begin_with(const std::string& path, access_record last);

private:
    std::optional<std::uint64_t> append(access_record record);

    std::string path_;
    bool checks_tokens_;
};

}  // namespace real
