// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The order of the steps of a fenced write, on a machine that loses power between any two of them.
#include <guard/fenced_folder.hpp>

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using pawl::fencing_token;
using pawl::guard::fence_of;
using pawl::guard::fenced_folder;
using pawl::guard::write_fenced;

struct power_failure {};

// What memory and the disk know of a folder. A step that is not synced is lost in a power failure,
// or is not, and independently of the steps before it; of a file, any first part may be lost.
class failing_folder final : public fenced_folder {
public:
    int steps_left = 1000;              // before the power fails, or the process is killed
    std::optional<int> skipped_sync{};  // this sync is forgotten, an injected bug

    std::optional<std::string> read(const std::string& name) override {
        const auto position = names_.find(name);
        if (position == names_.end()) return std::nullopt;
        return files_[position->second].content;
    }
    void write(const std::string& name, std::string_view content, const std::string&) override {
        begin_step();
        files_.push_back({std::string(content), {}});
        change({{}, name, files_.size() - 1});
    }
    void sync(const std::string& name) override {
        begin_step();
        if (is_skipped()) return;
        auto& file = files_[names_.at(name)];
        file.on_disk = file.content;
    }
    void rename(const std::string& from, const std::string& to) override {
        begin_step();
        change({from, to, names_.at(from)});
    }
    void sync_folder() override {
        begin_step();
        if (is_skipped()) return;
        names_on_disk_ = names_;
        changes_.clear();
    }

    // Each state in which the machine may come back.
    [[nodiscard]] std::vector<failing_folder> after_power_failure() const {
        std::vector<failing_folder> states;
        for (std::size_t kept = 0; kept < (std::size_t{1} << changes_.size()); ++kept) {
            failing_folder next;
            next.files_ = files_;
            next.names_ = names_on_disk_;
            for (std::size_t i = 0; i < changes_.size(); ++i)
                if ((kept >> i & 1) != 0) apply(changes_[i], next.names_);
            next.names_on_disk_ = next.names_;
            next.lose_content(0, states);
        }
        return states;
    }

private:
    struct stored_file {
        std::string content;
        std::string on_disk;
    };
    struct name_change {
        std::string from, to;  // no `from`: a new name
        std::size_t file;
    };

    void begin_step() {
        if (steps_left-- == 0) throw power_failure{};
    }
    bool is_skipped() { return skipped_sync && (*skipped_sync)-- == 0; }
    static void apply(const name_change& change, std::map<std::string, std::size_t>& names) {
        names.erase(change.from);
        names[change.to] = change.file;
    }
    void change(const name_change& next) {
        apply(next, names_);
        changes_.push_back(next);
    }
    // Nothing, a half, or all of each file that was not synced.
    void lose_content(std::size_t first, std::vector<failing_folder>& states) const {
        if (first == files_.size()) {
            states.push_back(*this);
            return;
        }
        const auto& content = files_[first].content;
        const bool is_synced = files_[first].on_disk == content;
        for (const auto size : {content.size(), content.size() / 2, std::size_t{0}}) {
            failing_folder next = *this;
            next.files_[first].content = next.files_[first].on_disk = content.substr(0, size);
            next.lose_content(first + 1, states);
            if (is_synced) return;
        }
    }

    std::vector<stored_file> files_;
    std::map<std::string, std::size_t> names_, names_on_disk_;
    std::vector<name_change> changes_;
};

using fenced_write = std::function<bool(fenced_folder&, const std::string&, fencing_token)>;

bool write_in_order(fenced_folder& folder, const std::string& content, fencing_token token) {
    return write_fenced(folder, "price", content, token).accepted;
}

// The wrong order: the content is there before its token.
bool write_content_first(fenced_folder& folder, const std::string& content, fencing_token token) {
    if (token < fence_of(folder, "price")) return false;
    for (const auto& [name, text] : {std::pair{std::string("price"), content},
                                     std::pair{std::string("price.fence"), to_string(token)}}) {
        folder.write(name + ".new", text, name);
        folder.sync(name + ".new");
        folder.rename(name + ".new", name);
        folder.sync_folder();
    }
    return true;
}

std::string digits_of(std::uint64_t token) {
    return std::string(4, static_cast<char>('0' + token));
}

// The token of a whole content; 0 without a file; nothing for a torn one.
std::optional<std::uint64_t> token_of_digits(failing_folder& folder) {
    const auto content = folder.read("price");
    if (!content) return 0;
    for (std::uint64_t token = 1; token < 10; ++token)
        if (*content == digits_of(token)) return token;
    return std::nullopt;
}

// A late writer with a smaller token than the content's would not be refused, or nobody can write,
// or the content is torn, or older than a write that was confirmed.
bool is_damaged(failing_folder state, std::uint64_t confirmed) {
    try {
        const auto content = token_of_digits(state);
        return !content || *content > fence_of(state, "price").value() || *content < confirmed;
    } catch (const pawl::error&) {
        return true;
    }
}

struct counts {
    int states = 0;
    int damaged = 0;
};

// Writes until the power fails, in each state in which that can leave the disk.
void fail_while_writing(const failing_folder& before, std::uint64_t token, std::uint64_t confirmed,
                        const fenced_write& write, counts& total) {
    for (int steps = 0;; ++steps) {
        failing_folder folder = before;
        folder.steps_left = steps;
        bool has_ended = false;
        auto confirmed_now = confirmed;
        try {
            if (write(folder, digits_of(token), fencing_token(token))) confirmed_now = token;
            has_ended = true;
        } catch (const power_failure&) {}
        for (const auto& state : folder.after_power_failure()) {
            ++total.states;
            if (is_damaged(state, confirmed_now)) ++total.damaged;
        }
        if (has_ended) return;
    }
}

// A price of token 3 is on the disk. The holder of token 5 is killed after any of its steps, and
// the next writer, with the same token or another one, meets what it left in memory; then the power
// fails after any step of that writer.
counts fail_at_each_step(const fenced_write& write, std::optional<int> skipped_sync = {}) {
    failing_folder before;
    write_in_order(before, digits_of(3), fencing_token(3));
    counts total;
    for (int steps = 0;; ++steps) {
        failing_folder folder = before;
        folder.steps_left = steps;
        folder.skipped_sync = skipped_sync;
        bool has_ended = false;
        try {
            has_ended = write(folder, digits_of(5), fencing_token(5));
        } catch (const power_failure&) {}
        folder.skipped_sync = skipped_sync;
        for (const std::uint64_t next : {4, 5, 7})
            fail_while_writing(folder, next, has_ended ? 5 : 3, write, total);
        if (has_ended) return total;
    }
}

TEST(FencedFolder, NeverHasAContentThatIsNewerThanItsToken) {
    const auto total = fail_at_each_step(write_in_order);
    EXPECT_EQ(total.damaged, 0) << "of " << total.states;
    EXPECT_GT(total.states, 1000);
}

TEST(FencedFolder, GoesBackIfTheContentIsWrittenFirst) {
    const auto total = fail_at_each_step(write_content_first);
    EXPECT_GT(total.damaged, 0) << "of " << total.states;
    RecordProperty("damaged", total.damaged);
}

// Of the token, of its name, of the content, of its name.
TEST(FencedFolder, NeedsEachOfItsFourSyncs) {
    for (const int sync : {0, 1, 2, 3}) {
        const auto total = fail_at_each_step(write_in_order, sync);
        EXPECT_GT(total.damaged, 0) << "sync " << sync << " is not needed";
    }
}

TEST(FencedFolder, RefusesASmallerTokenAndKeepsTheContent) {
    failing_folder folder;
    EXPECT_TRUE(write_in_order(folder, "a", fencing_token(10)));
    const auto late = write_fenced(folder, "price", "b", fencing_token(9));
    EXPECT_FALSE(late);
    EXPECT_EQ(late.newest, fencing_token(10));
    EXPECT_EQ(folder.read("price"), "a");
    EXPECT_TRUE(write_in_order(folder, "c", fencing_token(10))) << "a holder writes often";
    EXPECT_EQ(folder.read("price"), "c");
}

TEST(FencedFolder, RefusesAFenceThatIsNone) {
    for (const auto* text : {"", "0", "abc", "-1", "007", "9223372036854775808", "5 ", "5\n5"}) {
        failing_folder folder;
        folder.write("price.fence", text, {});
        EXPECT_THROW(write_in_order(folder, "a", fencing_token(9)), pawl::error) << text;
        EXPECT_EQ(folder.read("price"), std::nullopt);
    }
}

}  // namespace
