// Callbacks instead of coroutines; any completion token works. Usage: 03_callbacks [URL]
#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>

#include <functional>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    pawl::held_lock cart;
    int answers = 0;
    locks.async_try_acquire(
        "cart/42", {.ttl = 5s}, [&](boost::system::error_code ec, pawl::held_lock lock) {
            if (ec) {
                std::cerr << locks.last_failure() << '\n';
                return;
            }
            std::cout << (lock ? "cart/42 is ours\n" : "cart/42 is somebody else's\n");
            cart = std::move(lock);

            // A second try while the lock is held: an empty handle, and no error.
            locks.async_try_acquire("cart/42", {.ttl = 5s},
                                    [&](boost::system::error_code failed, pawl::held_lock second) {
                                        std::cout
                                            << (second || failed ? "this cannot be\n"
                                                                 : "and nobody else gets it\n");
                                        answers += !second && !failed;
                                        cart.async_release([&](pawl::release_result found) {
                                            std::cout << "given back: " << to_string(found) << '\n';
                                            answers += found == pawl::release_result::released;
                                            loop.stop();
                                        });
                                    });
        });
    loop.run();
    return answers == 2 ? 0 : 1;
}
