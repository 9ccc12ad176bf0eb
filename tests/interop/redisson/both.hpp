// A Redis, and processes of both kinds that share locks in it.
#pragma once

#include "peer.hpp"

#include <support/history.hpp>
#include <support/redis_server.hpp>

#include <pawl/blocking.hpp>

#include <conformance/process.hpp>

#include <string>
#include <vector>

namespace interop {

using namespace std::chrono_literals;

// One process, Java's or Pawl's: they are told the same.
class side {
public:
    side(pawl::conformance::launch how, std::string name);

    void tell(const std::string& command) { process_.send(command); }
    // The next line; throws when there is none in time.
    std::string answer(std::chrono::milliseconds bound = 30s);
    std::string ask(const std::string& command) {
        tell(command);
        return answer();
    }
    // True: no answer comes for that long, where it may not come yet.
    bool silent(std::chrono::milliseconds bound) { return !process_.read_line(bound); }
    void kill9() { process_.kill9(); }
    void stop() { process_.stop(); }
    void proceed() { process_.proceed(); }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    pawl::conformance::child process_;
    std::string name_;
};

// A line's words as numbers; what is none is 0 ("true" is 1).
[[nodiscard]] std::vector<std::int64_t> numbers(const std::string& line);

class both {
public:
    // `cluster`: the server is one, of a single node.
    explicit both(bool cluster = false);

    // `ttl` is the lease of Pawl's locks, and Redisson's lockWatchdogTimeout.
    [[nodiscard]] side java(std::chrono::milliseconds ttl = 60s) const;
    [[nodiscard]] side pawl(std::chrono::milliseconds ttl = 60s) const;
    [[nodiscard]] side pawl_at(const std::string& url, std::chrono::milliseconds ttl) const;
    [[nodiscard]] support::redis_server& server() noexcept { return server_; }
    [[nodiscard]] pawl::blocking::client& eyes() noexcept { return eyes_; }
    // As many clients listen for the lock's release.
    [[nodiscard]] bool has_waiters(const std::string& name, std::uint64_t count);
    // The same, of whatever it is: as many channels of locks are heard by somebody.
    [[nodiscard]] bool has_listeners(std::size_t count);
    [[nodiscard]] std::string file(const std::string& name) const {
        return server_.folder().file(name);
    }

private:
    [[nodiscard]] std::string url() const { return server_.url("?layout=redisson"); }

    const bool cluster_;
    support::redis_server server_;
    pawl::blocking::client eyes_;
};

}  // namespace interop
