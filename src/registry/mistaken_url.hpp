// What a URL that no backend knows was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pawl {

// One sentence for a URL whose scheme is none of `schemes`. It suggests only what this build has,
// and repeats nothing that may be a password.
[[nodiscard]] std::string sentence_for_mistaken_url(std::string_view url,
                                                    std::span<const std::string_view> schemes);

// The sentence for redis:host and redis:/host; empty for a URL that has its slashes.
[[nodiscard]] std::string sentence_for_missing_slashes(std::string_view url);

// For redis://a,b and redis://a:1,b:2. Empty for all others.
[[nodiscard]] std::string sentence_for_several_servers(std::string_view url);

}  // namespace pawl
