// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fenced_folder.hpp"

#include "token_number.hpp"

#include <pawl/error.hpp>

namespace pawl::guard {
namespace {

// The content of a new name is on the disk before the name is.
void replace(fenced_folder& folder, const std::string& name, std::string_view content,
             const std::string& like) {
    const auto made = name + ".new";
    folder.write(made, content, like);
    folder.sync(made);
    folder.rename(made, name);
}

}  // namespace

fencing_token fence_of(fenced_folder& folder, const std::string& name) {
    const auto text = folder.read(name + ".fence");
    if (!text) return {};
    std::string_view number = *text;
    if (number.ends_with('\n')) number.remove_suffix(1);
    const auto token = parse_token(number);
    if (!token)
        throw error(errc::bad_option,
                    name +
                        ".fence has no token, so that a late writer would not be noticed; if "
                        "Pawl did not write it, choose another path for the file.");
    return *token;
}

// The fence is on the disk before the content: after a crash between the two, the holder repeats
// the write. In the other order, a smaller token could replace the content.
fence_result write_fenced(fenced_folder& folder, const std::string& name, std::string_view content,
                          fencing_token token) {
    const auto newest = fence_of(folder, name);
    if (token < newest) return {false, newest};
    if (token > newest) replace(folder, name + ".fence", to_string(token) + '\n', name);
    folder.sync_folder();  // also if a writer with this token was killed before it came to that
    replace(folder, name, content, name);
    folder.sync_folder();
    return {true, token};
}

}  // namespace pawl::guard
