// The engines of an event loop, so that its end finds them.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <mutex>

namespace pawl::core {

class engine;

// A lease keeps its engine, which keeps the lease, and both keep the handlers of whoever waits for
// them. The end of the event loop breaks that up. Thread-safe.
class engine_registry {
public:
    // The registry of the executor's event loop.
    static std::shared_ptr<engine_registry> of(const boost::asio::any_io_executor& executor);

    void add(const std::shared_ptr<engine>& member);
    void remove(const engine& member) noexcept;

private:
    class home;
    std::shared_ptr<engine> take_any();

    std::mutex mutex_;
    std::map<const engine*, std::weak_ptr<engine>> members_;
};

}  // namespace pawl::core
