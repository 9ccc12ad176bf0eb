// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "screen.hpp"

#include "style.hpp"

#include <unistd.h>
#include <algorithm>
#include <string_view>

namespace pawl::cli {

namespace {

void put(std::string_view text) noexcept {
    while (!text.empty()) {
        const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void screen::enter() {
    termios modes{};
    if (::tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes_ = modes;
        modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    }
    put("\x1b[?1049h\x1b[?25l");
}

void screen::leave() noexcept {
    put("\x1b[?25h\x1b[?1049l");
    if (modes_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*modes_);
}

void screen::draw(const std::vector<std::string>& lines) {
    const std::size_t height = terminal_height(STDOUT_FILENO);
    std::string frame = "\x1b[H";
    for (std::size_t i = 0; i < std::min(lines.size(), height); ++i) {
        frame.append(i == 0 ? "" : "\r\n").append(lines[i]).append("\x1b[K");
    }
    put(frame.append("\x1b[J"));
}

}  // namespace pawl::cli
