#include "checks.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "lock_view.hpp"
#include "style.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <iostream>

namespace pawl::cli {

int resize(const resize_options& options) {
    check_name(options.name);
    const place where = find_shared_place(options.on);
    blocking::client locks(where.where);
    if (!options.create && !locks.inspect(options.name).free_permits) {
        if (where.url.find("object=semaphore") != std::string::npos) {
            throw failure(exit_code::usage,
                          "There is no semaphore '" + options.name +
                              "', and Redisson's Semaphore is not made here; check the name, or "
                              "begin one with pawl run --permits K/N.");
        }
        throw failure(exit_code::no, "There is no semaphore '" + options.name +
                                         "'; check the name, or say --create to make it.");
    }
    locks.resize(options.name, options.permits);
    if (options.json) {
        json text;
        text.begin_object().field("name", options.name);
        text.field("permits", std::int64_t{options.permits}).end_object();
        std::cout << text.str() << '\n';
    } else {
        std::cout << "'" << printable(options.name) << "' has " << options.permits
                  << (options.permits == 1 ? " permit" : " permits") << " from now on.\n";
    }
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
