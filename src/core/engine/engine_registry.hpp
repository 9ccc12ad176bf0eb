// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The engines of an event loop. The loop's destructor must find them.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <mutex>

namespace pawl::core {

// A lease and its engine own each other, and both own the handlers of their waiters. The end of the
// event loop breaks these cycles. Thread-safe.
class engine_registry {
public:
    class member {
    public:
        member(const member&) = delete;
        member& operator=(const member&) = delete;
        // The event loop is being destroyed: no handler runs any more.
        virtual void abandon() = 0;

    protected:
        member() = default;
        ~member() = default;
    };

    // The registry of the executor's event loop.
    static std::shared_ptr<engine_registry> registry_of(
        const boost::asio::any_io_executor& executor);

    void add(const std::shared_ptr<member>& engine);
    void remove(const member& engine) noexcept;

private:
    class context_service;
    std::shared_ptr<member> remove_any();

    std::mutex mutex_;
    std::map<const member*, std::weak_ptr<member>> members_;
};

}  // namespace pawl::core
