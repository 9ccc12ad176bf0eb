// The whole terminal, for as long as this lives: the alternate screen, no cursor, keys as they are
// pressed.
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
    // Replaces what is shown, without flicker; as many lines as fit.
    void draw(const std::vector<std::string>& lines);

private:
    std::optional<termios> modes_;
};

}  // namespace pawl::cli
