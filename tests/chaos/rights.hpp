// A user with the rights that a page of the documentation gives, read from the page itself: who has
// them can do all that the page says, is never refused anything, and has no right in vain.
#pragma once

#include "scene.hpp"

#include <functional>
#include <string>
#include <vector>

namespace chaos {

class least_rights : public scene {
public:
    // `page` is a file in docs.
    explicit least_rights(std::string page, support::redis_plan plan = {});

    // From now on the user has the first line of the page's ACL SETUSER, these lines (the first is
    // 0), and more.
    void allow(const std::vector<std::size_t>& which, const support::command_words& more = {});
    void allow_all(const support::command_words& more = {});
    // The rights that the page gives in a sentence, in backticks that begin so.
    [[nodiscard]] support::command_words also(const std::string& first) const;
    // A client of that user.
    [[nodiscard]] client user(const std::string& options = {});

    // Since `allow`; also what a fallback hides.
    void expect_nothing_refused();
    // Of the commands that the page allows, those that the server was never asked for since then.
    [[nodiscard]] std::vector<std::string> in_vain();

    // One holds "it", the other waits and gets it; or gives up.
    void pass_on(client& one, client& two, pawl::lock_options how,
                 const std::function<bool()>& waits);
    void give_up(client& one, client& two, pawl::lock_options how);
    // So many wait for "it", as `by` sees it.
    [[nodiscard]] static std::function<bool()> seen_waiting(client& by, std::uint64_t count = 1);

    // `eyes` see the one who waits.
    static void count_down(client& one, client& two, client& eyes);
    static void lead(client& one, client& two);
    static void look_around(client& locks);

private:
    std::string text_;
    std::vector<support::command_words> lines_;
};

}  // namespace chaos
