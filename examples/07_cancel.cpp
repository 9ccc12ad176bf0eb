// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Ending a wait: by a limit, by a stop_token, and by Asio's cancel_after. Usage: 07_cancel [URL]
#include <pawl/blocking.hpp>
#include <pawl/client.hpp>

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    const pawl::service service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::blocking::client locks(service);
    auto gate_lock = locks.acquire("gate");
    int gave_up = 0;

    try {  // a wait with a limit
        auto never = locks.acquire("gate", {.wait = 50ms});
    } catch (const pawl::error& e) {
        std::cout << e.what() << '\n';
        gave_up += e.code() == pawl::errc::timed_out;
    }

    std::jthread patient([&](std::stop_token stop) {  // another thread ends this wait
        try {
            auto never = locks.acquire("gate", {}, stop);
        } catch (const pawl::error& e) {
            std::cout << e.what() << '\n';
            gave_up += e.code() == pawl::errc::cancelled;
        }
    });
    patient.request_stop();
    patient.join();

    boost::asio::io_context loop;  // the same with an event loop
    pawl::client async_locks(loop.get_executor(), service);
    const auto answer = [&](boost::system::error_code ec, pawl::held_lock) {
        std::cout << ec.message() << '\n';
        gave_up += ec == boost::asio::error::operation_aborted;
        loop.stop();
    };
    async_locks.async_acquire("gate", {}, boost::asio::cancel_after(50ms, answer));
    loop.run();

    // The waits that ended left neither a place in the queue nor a lock behind.
    (void)gate_lock.release();
    const bool free = locks.try_acquire("gate").owns_lock();
    return gave_up == 3 && free ? 0 : 1;
}
