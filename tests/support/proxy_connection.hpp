// One connection through the fault proxy: the client's socket, the server's, and what is known of
// both.
#pragma once

#include "fault_proxy.hpp"
#include "proxy_pipe.hpp"

#include <deque>
#include <string>

namespace support {

// What the proxy's owner told it, shared by all connections.
struct proxy_orders {
    struct order {
        fault what;
        std::size_t matched = 0;
    };
    std::vector<order> faults;
    std::size_t struck = 0;
    bool frozen = false;
    bool drop_pushes = false;
    std::chrono::milliseconds request_delay{}, reply_delay{};
    std::vector<passing> seen;

    // The fault that strikes this command; null when it may pass.
    const fault* fate_of(const command_words& words);
};

class proxy_connection {
public:
    proxy_connection(int client, int server, std::size_t number)
        : client_(client), server_(server), number_(number) {}
    proxy_connection(const proxy_connection&) = delete;
    proxy_connection& operator=(const proxy_connection&) = delete;
    ~proxy_connection();

    [[nodiscard]] int client() const noexcept { return client_; }
    [[nodiscard]] int server() const noexcept { return server_; }
    [[nodiscard]] bool swallowing() const noexcept { return swallowing_; }
    [[nodiscard]] bool over() const noexcept { return over_; }
    // When there is something to send.
    [[nodiscard]] pawl::time_point wakes_at() const noexcept;

    void read_client(proxy_orders& orders);
    void read_server(proxy_orders& orders);
    void flush(pawl::time_point now);

private:
    struct expected {
        fate what = fate::answer;  // `answer` stands for: pass it on
        std::chrono::milliseconds by{};
        bool swallow_next = false;
        std::string own{};  // an answer that does not come from the server
    };
    void take_command(const command_words& words, std::string bytes, proxy_orders& orders);
    void strike(const fault& with, std::string bytes, pawl::time_point not_before);
    void take_reply(std::string bytes, bool push, const proxy_orders& orders);
    void give_own_answers();
    void expect_answers(const command_words& words, expected how);

    int client_;
    int server_;
    std::size_t number_;
    std::string from_client_, from_server_;
    proxy_pipe to_client_, to_server_;
    std::deque<expected> expected_;
    bool resp3_ = false;
    bool swallowing_ = false;
    bool ends_when_sent_ = false;
    bool over_ = false;
};

}  // namespace support
