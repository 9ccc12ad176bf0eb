// What may be asked for. Each refusal is one sentence that says what to do.
#pragma once

#include <pawl/backend.hpp>
#include <pawl/options.hpp>

#include <string_view>

namespace pawl::core {

// Throws errc::bad_name: 1 to 512 bytes, no control characters.
void check_name(std::string_view name);
// Throws errc::bad_option.
void check_options(const lock_options& options);
// Throws errc::unsupported for what the service does not promise.
void check_mode(const lock_options& options, const backend& service);
// For a hold under a value of the caller's own. Throws errc::unsupported or errc::bad_option.
void check_value(std::string_view value, const lock_options& options, const promises& promised);
void check_polling(const polling& retry);

}  // namespace pawl::core
