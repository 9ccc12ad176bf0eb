// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A file that refuses the writes of a late holder: docs/guide/fenced-writes.md. Standard headers
// only.
#pragma once

#include <pawl/guard/fence_result.hpp>
#include <pawl/types.hpp>

#include <string>
#include <string_view>

namespace pawl::guard {

// A file that is replaced as a whole, and only by a token that is not smaller than all before. The
// largest token is in NAME.fence, and writers exclude each other by NAME.lock. Do not delete these
// two, also not together with the file: a late holder could write again.
//
// A crash of the process or of the machine leaves the old content or the new one, never a part, and
// never a token in NAME.fence that is smaller than the token of the content. Readers need no lock.
//
// Thread-safe; an object has no open files between the calls. The functions block until the disk
// has answered, and `write` also while another process writes; it cannot be cancelled. They throw
// pawl::error: bad_option for a wrong path, token or file beside the file; refused without the
// rights; unavailable for a full disk, or another error of the file system.
class fenced_file {
public:
    // The path becomes absolute, without symbolic links. The folder must exist; the file need not.
    // errc::refused: the folder is on a network file system, whose hosts do not agree on locks.
    explicit fenced_file(const std::string& path);

    // Replaces the content if no larger token has written, and returns when the disk has it. The
    // file keeps its mode, and gets a new inode. After an exception, the token may have been
    // accepted, and the content is the old or the new one: repeat the call.
    fence_result write(std::string_view content, fencing_token token) const;
    // The largest token so far; empty before the first write.
    [[nodiscard]] fencing_token newest() const;

    // Without symbolic links.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

}  // namespace pawl::guard
