// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The whole terminal during the lifetime of the object: the alternate screen, no cursor, keys
// without a line buffer.
#pragma once

#include <termios.h>
#include <optional>
#include <string>
#include <vector>

namespace pawl::cli {

class screen {
public:
    screen() { enter(); }
    ~screen() { leave(); }
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    void enter();
    void leave() noexcept;
    // Replaces the screen without flicker. Lines that do not fit are not shown.
    void draw(const std::vector<std::string>& lines);

private:
    std::optional<termios> modes_;
};

}  // namespace pawl::cli
