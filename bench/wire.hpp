// The limit: hiredis, one blocking connection, nothing in between. And what a server can tell of
// its clients.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct redisContext;
struct redisReply;

namespace bench {

using words = std::vector<std::string>;

class wire {
public:
    explicit wire(std::uint16_t port);

    // Throws std::runtime_error on a broken connection or an error reply.
    std::string call(const words& command);
    std::int64_t call_for_number(const words& command);
    // The next thing that the server pushes (SUBSCRIBE, MONITOR): its last string.
    std::string receive();
    // One answer each, all sent at once.
    void pipeline(const std::vector<words>& commands);

    // From INFO: one field of a section, and calls per command.
    std::string info(const std::string& section, const std::string& field);
    std::map<std::string, std::int64_t> calls_per_command();

private:
    struct close_context {
        void operator()(redisContext* context) const noexcept;
    };
    struct free_reply {
        void operator()(redisReply* reply) const noexcept;
    };
    using reply_ptr = std::unique_ptr<redisReply, free_reply>;
    reply_ptr command(const words& command);

    std::unique_ptr<redisContext, close_context> context_;
};

// Calls in `after` that were not in `before`.
std::map<std::string, std::int64_t> difference(const std::map<std::string, std::int64_t>& before,
                                               const std::map<std::string, std::int64_t>& after);

// Sees every command that the server carries out, in order.
class monitor {
public:
    explicit monitor(std::uint16_t port);

    struct line {
        bool in_script = false;
        words command;
    };
    // What was carried out between two marks. The mark is an ECHO that this class sends itself.
    void mark();
    std::vector<line> until_mark();

private:
    wire eyes_;
    wire voice_;
    int marks_ = 0;
};

// "EVALSHA acquire" for one of Pawl's scripts, else the command's name in upper case.
std::string name_of(const words& command);

}  // namespace bench
