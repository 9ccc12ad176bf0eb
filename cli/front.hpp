// The front of `pawl run`: the process that the shell knows. See keeper.hpp for its partner.
#pragma once

#include "command_processes.hpp"
#include "events.hpp"
#include "keeper.hpp"
#include "place.hpp"
#include "processes.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pawl::cli {

class front {
public:
    front(const run_options& options, const place& where);
    ~front();
    front(const front&) = delete;
    front& operator=(const front&) = delete;

    // Returns the exit status.
    int run();
    // Before another front in this process: nothing of this one is left among the children.
    void clear_away();
    // The command was stopped, or not even started, because of a loss and for no other reason.
    [[nodiscard]] bool ended_by_loss() const noexcept {
        return lost_before_end_ && !told_to_end_ && !runs_on_;
    }
    [[nodiscard]] bool started_command() const noexcept { return leader_ != 0; }
    // The service has been there.
    [[nodiscard]] bool reached_service() const noexcept { return reached_; }
    // No command was run, because the service could not be reached or could serve nobody.
    [[nodiscard]] bool ended_unserved() const noexcept { return unserved_; }

private:
    // watching: it runs. told: SIGTERM was sent, SIGKILL follows at kill_at_. killing: SIGKILL was
    // sent.
    enum class stage { watching, told, killing };

    // front.cpp: from start to end
    void start_keeper();
    bool start_command();
    void keep_minimum();
    void give_back();
    void say_unconfirmed() const;
    int end();
    void ask(order what) const;
    [[nodiscard]] std::vector<std::string> environment() const;
    [[nodiscard]] std::string run_variable() const;
    [[nodiscard]] control_group make_cgroup();

    // waiting.cpp: until the command may begin
    bool wait_for_lock();
    bool fail(const report& told);
    void take_early(const report& told);
    void lose_unstarted(loss_reason why, std::string_view which = {});
    bool may_start();

    // guard.cpp: while something of the command lives
    void guard();
    void act_on_time();
    [[nodiscard]] bool must_stop_soon() const;
    [[nodiscard]] loss_reason why_ending() const;
    [[nodiscard]] time_point next_wake() const;
    [[nodiscard]] bool is_over();
    void take(const happening& what);
    void take_signal(int signal);
    void lose(loss_reason why, std::string_view which = {});
    void tell_to_stop();
    void kill_everything();
    void stop_leftovers(const std::vector<process>& left);
    void stop_group();
    bool all_stopped(const std::vector<process>& left);
    bool is_over_unseen();
    void note_late(const std::vector<process>& left);
    void say_refused(const std::vector<process>& refused);
    void name_strays(std::vector<process> left);
    void signal_group(int signal);
    [[nodiscard]] bool must_stop_all() const noexcept;
    void reap();
    void reap_orphans();
    void suspend(int signal);
    void resume();
    [[nodiscard]] time_point deadline() const;

    const run_options& options_;
    const place& where_;
    margins margins_;
    events events_;
    terminal terminal_;
    std::unique_ptr<shared_state, void (*)(shared_state*)> shared_;
    inherited_children inherited_;
    descriptor channel_;
    pid_t keeper_ = 0;

    time_point acquired_at_{};
    int status_ = 0;       // what the command ended with, or why it never began
    int interrupted_ = 0;  // the signal that ended our own waiting
    bool reached_ = false;
    bool unserved_ = false;
    bool lost_ = false;
    bool lost_before_end_ = false;  // of the command
    bool told_to_end_ = false;      // by a signal of ours after the command began

    pid_t leader_ = 0;
    std::optional<command_processes> processes_;
    bool leader_ended_ = false;
    bool keeper_reaped_ = false;
    bool late_ = false;            // something of the command was there when the lease ended
    bool runs_on_ = false;         // something of it may be there after our end
    std::set<pid_t> unstoppable_;  // which this user may not signal
    int killed_by_ = 0;            // the signal that killed the leader
    bool has_terminal_ = false;
    stage stage_ = stage::watching;
    time_point kill_at_ = time_point::max();
};

}  // namespace pawl::cli
