#include "lists.hpp"

#include <ostream>

namespace pawl::conformance {

namespace {

class printer : public reporter {
public:
    explicit printer(std::ostream& to) : to_(to) {}

    void begins(const promise& which) override { to_ << which.name << " … " << std::flush; }
    void kept(const promise&) override {
        to_ << "kept\n";
        ++kept_;
    }
    void broke(const promise& which, std::string_view how) override {
        to_ << "BROKEN: " << how << '\n';
        broken_.push_back(which.name);
    }
    void summary() {
        to_ << kept_ << " kept, " << broken_.size() << " broken";
        for (std::size_t i = 0; i < broken_.size(); ++i)
            to_ << (i == 0 ? ": " : ", ") << broken_[i];
        to_ << std::endl;
    }

private:
    std::ostream& to_;
    std::size_t kept_ = 0;
    std::vector<std::string_view> broken_;
};

}  // namespace

std::span<const promise> all_promises() noexcept {
    static const std::vector<promise> all = [] {
        std::vector<promise> result;
        for (const auto group :
             {exclusion_promises(),    waiting_promises(),     cancelling_promises(),
              lease_promises(),        dead_holder_promises(), token_promises(),
              queue_promises(),        ending_promises(),      name_promises(),
              looking_promises(),      mutex_promises(),       crowd_promises(),
              work_promises(),         owner_promises(),       several_promises(),
              value_promises(),        election_promises(),    shared_promises(),
              permits_promises(),      fair_promises(),        change_promises(),
              shared_mutex_promises(), latch_promises()})
            result.insert(result.end(), group.begin(), group.end());
        return result;
    }();
    return all;
}

bool run_all(fixture& of, reporter& to) {
    bool all_kept = true;
    for (const promise& each : all_promises()) {
        if (!each.asked_of(of.promised())) continue;
        to.begins(each);
        std::optional<std::string> found;
        try {
            each.run(of);
        } catch (const std::exception& how) {
            found = how.what();
        } catch (...) {
            found = "threw something that is no std::exception";
        }
        all_kept = all_kept && !found;
        if (found)
            to.broke(each, *found);
        else
            to.kept(each);
    }
    return all_kept;
}

int run_and_print(fixture& of, std::ostream& to) {
    printer lines(to);
    const bool all_kept = run_all(of, lines);
    lines.summary();
    return all_kept ? 0 : 1;
}

}  // namespace pawl::conformance
