#include "validate.hpp"

#include "permits.hpp"

#include <pawl/error.hpp>

#include <array>
#include <optional>
#include <string>

namespace pawl::core {
namespace {

// Its place, counted from 1.
std::optional<std::size_t> control_character_in(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7f) return i + 1;
    }
    return std::nullopt;
}

std::string exact(duration what) {
    using namespace std::chrono_literals;
    struct unit {
        const char* name;
        duration size;
    };
    static constexpr std::array<unit, 5> units{
        {{" d", 24h}, {" h", 1h}, {" min", 1min}, {" s", 1s}, {" ms", 1ms}}};
    if (what == forever) return "forever";
    if (what < 0ms) return "less than 0";
    std::string text;
    for (const auto& each : units) {
        if (what < each.size) continue;
        if (!text.empty()) text += ' ';
        text += std::to_string(what / each.size) + each.name;
        what %= each.size;
    }
    return text.empty() ? "0 ms" : text;
}

}  // namespace

void check_name(std::string_view name) {
    if (name.empty())
        throw error(errc::bad_name, "The lock's name is empty; give it 1 to 512 bytes.");
    if (name.size() > 512)
        throw error(errc::bad_name, "The lock's name has " + std::to_string(name.size()) +
                                        " bytes; use at most 512.");
    if (const auto at = control_character_in(name))
        throw error(errc::bad_name, "The lock's name has a control character at byte " +
                                        std::to_string(*at) + "; use printable characters.");
}

void check_options(const lock_options& options) {
    using namespace std::chrono_literals;
    if (options.ttl < 10ms || options.ttl > 24h)
        throw error(errc::bad_option,
                    "The ttl is " + exact(options.ttl) + "; it must be between 10 ms and 24 h.");
    if (options.wait < 0ms)
        throw error(errc::bad_option, "The wait is " + exact(options.wait) +
                                          "; use 0 to ask once, a longer time, or pawl::forever.");
    if (options.max_hold < 10ms)
        throw error(errc::bad_option, "The max_hold is " + exact(options.max_hold) +
                                          "; it must be 10 ms or more, or pawl::forever.");
    if (options.mode > lock_mode::permits)
        throw error(errc::bad_option, "There is no lock_mode " +
                                          std::to_string(static_cast<unsigned>(options.mode)) +
                                          "; use lock_mode::exclusive, shared or permits.");
    if (options.mode != lock_mode::permits) {
        if (options.permits != 1 || options.of != 0)
            throw error(errc::bad_option,
                        "Permits are had with mode = lock_mode::permits; set that, or leave out "
                        "`permits` and `of`.");
        return;
    }
    if (options.permits == 0)
        throw error(errc::bad_option, "The number of permits is 0; it must be 1 or more.");
    if (options.of != 0 && options.permits > options.of)
        throw error(errc::bad_option, (options.of == 1 ? "There is only " : "There are only ") +
                                          permits_text(options.of) + ", and you ask for " +
                                          std::to_string(options.permits) + "; ask for fewer.");
}

void check_mode(const lock_options& options, const backend& service) {
    const auto promised = service.promised();
    const auto refuse = [&](const char* what) {
        const auto way = service.way_to(options.mode, options.fair);
        throw error(errc::unsupported,
                    std::string("This service has no ") + what + "; " +
                        (way.empty() ? "see the table in docs/guarantees.md" : way) + ".");
    };
    if (options.mode == lock_mode::shared && !promised.shared) refuse("shared locks");
    if (options.mode == lock_mode::permits && !promised.permits) refuse("permits");
    if (options.fair && !promised.strictly_fair) refuse("strictly fair locks");
}

void check_value(std::string_view value, const lock_options& options, const promises& promised) {
    if (!promised.chosen_values)
        throw error(errc::unsupported,
                    "This service keeps no values of the caller's own; let Pawl choose it, or use "
                    "Redis' native layout.");
    if (value.empty() || value.size() > 256)
        throw error(errc::bad_option, "The value has " + std::to_string(value.size()) +
                                          " bytes; give it 1 to 256, and another one each time.");
    if (const auto at = control_character_in(value))
        throw error(errc::bad_option, "The value has a control character at byte " +
                                          std::to_string(*at) + "; use printable characters.");
    if (value.starts_with("pawl:"))
        throw error(errc::bad_option,
                    "A value that begins with 'pawl:' is Pawl's own; begin it otherwise.");
    if (options.mode != lock_mode::exclusive || options.fair)
        throw error(errc::bad_option,
                    "Only a plain exclusive lock can have a value of the caller's own: neither a "
                    "shared one, nor permits, nor a fair one.");
}

void check_polling(const polling& retry) {
    using namespace std::chrono_literals;
    if (retry.tries == 0)
        throw error(errc::bad_option, "The number of tries is 0; use 1 to ask once, or more.");
    if (retry.interval < 1ms || retry.longest < retry.interval)
        throw error(errc::bad_option,
                    "The interval between tries must be 1 ms or more, and the longest pause at "
                    "least as long.");
    if (!(retry.growth >= 1 && retry.growth <= 1000))
        throw error(errc::bad_option,
                    "The growth of the pauses between tries must be between 1 and 1000.");
}

}  // namespace pawl::core
