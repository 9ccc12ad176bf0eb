// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The engines of an event loop. The loop's destructor must find them.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <mutex>

namespace pawl::core {

// The end of an event loop has two steps. First the engines are told, which ends the cycles of
// leases, engines and handlers that own each other. Then Asio destroys the coroutines, in no
// certain order, and their local objects may use an engine or its backend. So the registry keeps
// the engines until the last coroutine is gone. Thread-safe.
class engine_registry {
public:
    class member {
    public:
        member(const member&) = delete;
        member& operator=(const member&) = delete;
        // The event loop is being destroyed: no handler runs any more.
        virtual void abandon() = 0;
        // All coroutines and handlers are destroyed, and the loop's services are next. Other
        // objects may keep the engine.
        virtual void dispose() noexcept = 0;

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
    class abandoned_engines;
    struct entry {
        std::weak_ptr<member> engine;
        std::shared_ptr<member> abandoned{};  // set at the end of the event loop
    };
    using entries = std::map<const member*, entry>;
    // Sets `abandoned`. Empty: no engine is left.
    entries::node_type extract_any();

    std::mutex mutex_;
    entries members_;
};

}  // namespace pawl::core
