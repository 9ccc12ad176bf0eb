#include "boost_link.hpp"

#include "wire.hpp"

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

class boost_link final : public link {
public:
    explicit boost_link(std::shared_ptr<wire> to) : wire_(std::move(to)) {}
    ~boost_link() override { wire_->forget_listener(); }

    asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                time_point give_up_at) override {
        return wire_->exec(words, give_up_at, false);
    }
    asio::awaitable<reply> exec_tracked(std::span<const std::string_view> words,
                                        time_point give_up_at) override {
        return wire_->exec(words, give_up_at, true);
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return wire_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override { wire_->unsubscribe(channel); }
    const session& current() const noexcept override { return wire_->current(); }
    bool connected() const noexcept override { return wire_->connected(); }
    std::string absence() const override { return wire_->absence(); }
    asio::awaitable<void> close(time_point give_up_at) override { return wire_->close(give_up_at); }

private:
    std::shared_ptr<wire> wire_;
};

}  // namespace

link_factory boost_link_factory(const options& where, const backend_context& context) {
    return [where, context](link::listener& to,
                            const std::string& channel) -> std::unique_ptr<link> {
        return std::make_unique<boost_link>(std::make_shared<wire>(where, context, to, channel));
    };
}

}  // namespace pawl::redis
