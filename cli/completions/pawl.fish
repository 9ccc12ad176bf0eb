# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# fish completion for pawl

function __pawl_names
    set -l words (commandline -opc)
    set -l service
    for option in --on --url-file
        if set -l at (contains -i -- $option $words)
            set service $option $words[(math $at + 1)]
        end
    end
    contains -- --local $words; and set service --local
    timeout 2 pawl ls --names $service 2>/dev/null
end

function __pawl_after_mark
    contains -- -- (commandline -opc)
end

set -l verbs run elect status ls watch release resize redlock cron doctor acl schema
set -a verbs reconcile once bench completion
set -l named run elect status ls watch release resize

complete -c pawl -f
complete -c pawl -n __fish_use_subcommand -l help -d 'Show help'
complete -c pawl -n __fish_use_subcommand -l version -d 'Show the version'
complete -c pawl -n __fish_use_subcommand -a run -d 'Run a command while holding a lock'
complete -c pawl -n __fish_use_subcommand -a elect -d 'Keep at most one of several commands running'
complete -c pawl -n __fish_use_subcommand -a status -d 'Show who holds a lock'
complete -c pawl -n __fish_use_subcommand -a ls -d 'List the locks'
complete -c pawl -n __fish_use_subcommand -a watch -d 'Show the locks live'
complete -c pawl -n __fish_use_subcommand -a release -d 'Take a lock from its holder'
complete -c pawl -n __fish_use_subcommand -a resize -d 'Set the number of permits of a semaphore'
complete -c pawl -n __fish_use_subcommand -a redlock -d 'Show, begin or repair a set of nodes'
complete -c pawl -n __fish_use_subcommand -a cron -d 'Run commands of a file at their times'
complete -c pawl -n __fish_use_subcommand -a reconcile -d 'Show the runs of reconciliations'
complete -c pawl -n __fish_use_subcommand -a once -d 'Show or purge the records of once'
complete -c pawl -n __fish_use_subcommand -a doctor -d 'Examine the service'
complete -c pawl -n __fish_use_subcommand -a acl -d 'Print the least rights for a user of Redis'
complete -c pawl -n __fish_use_subcommand -a schema -d 'Print the SQL that prepares a database'
complete -c pawl -n __fish_use_subcommand -a bench -d 'Measure the service'
complete -c pawl -n __fish_use_subcommand -a completion -d 'Print a completion script'

complete -c pawl -n "__fish_seen_subcommand_from $named; and not __pawl_after_mark" \
    -a '(__pawl_names)' -d lock
complete -c pawl -n __pawl_after_mark \
    -a '(__fish_complete_subcommand --fcs-skip=(math (contains -i -- -- (commandline -opc))))'
complete -c pawl -n "__fish_seen_subcommand_from $verbs" \
    -l on -x -d 'The URL of the service' \
    -a '@pawl_schemes@'
complete -c pawl -n "__fish_seen_subcommand_from $verbs" \
    -l url-file -r -F -d 'Read the URL from a file'
complete -c pawl \
    -n "__fish_seen_subcommand_from $verbs; and not __fish_seen_subcommand_from redlock" \
    -l local -d 'A lock file of this user on this host'
complete -c pawl -n "__fish_seen_subcommand_from status ls watch release resize redlock" \
    -l json -d 'Print JSON'
complete -c pawl -n "__fish_seen_subcommand_from cron reconcile once doctor acl bench" \
    -l json -d 'Print JSON'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l durable -x -a 'primary replicas:1 disk' -d 'Where a lock must be first'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l ttl -x -a '10s 30s 1min' -d 'The lease'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l wait -x -a '0 10s 1min forever' -d 'How long to wait'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l max-hold -x -a '10min 1h' -d 'Stop the command after this time'
complete -c pawl -n "__fish_seen_subcommand_from run" -l shared -d 'Hold the lock as a reader'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l permits -x -a '1 1/2 1/5' -d 'Take K of the N permits of a semaphore'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l fair -d 'Grant strictly in the order of the requests'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l no-token -d 'Take no fencing token'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l also -x -a '(__pawl_names)' -d 'Another lock, all or none'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l min-hold -x -a '10s 1min' -d 'Hold the lock for at least this time'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l on-loss -x -a 'kill term continue' -d 'What to do if the lock is lost'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l busy-exit -x -d 'The exit status if the lock is not free in time'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l label -x -d 'The command that other users see'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -s q -l quiet -d 'Print nothing about a lock that is not free'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -s v -l verbose -d 'Print reconnects, retries and the holder'
complete -c pawl -n "__fish_seen_subcommand_from ls" -l names -d 'Only the names'
complete -c pawl -n "__fish_seen_subcommand_from watch" \
    -l interval -x -a '500ms 1s 5s' -d 'The time between two queries'
complete -c pawl -n "__fish_seen_subcommand_from release" \
    -l force -d 'Required to take the lock from its holder'
complete -c pawl -n "__fish_seen_subcommand_from resize" \
    -l create -d 'Create the semaphore if there is none'
complete -c pawl -n "__fish_seen_subcommand_from release" \
    -s y -l yes -d 'Do not ask for confirmation'
complete -c pawl -n "__fish_seen_subcommand_from release" \
    -l token -x -d 'Only from a holder with this token'
complete -c pawl -n "__fish_seen_subcommand_from cron" -F
complete -c pawl -n "__fish_seen_subcommand_from cron" -l check -d 'Only check the file'
complete -c pawl -n "__fish_seen_subcommand_from cron" \
    -l history -d 'Only print when commands ran'
complete -c pawl -n "__fish_seen_subcommand_from cron" \
    -l schema -d 'Only print the SQL of the table'
complete -c pawl -n "__fish_seen_subcommand_from cron" \
    -l name -x -d 'The history of this schedule'
complete -c pawl -n "__fish_seen_subcommand_from cron" \
    -l last -x -a '10 50 200' -d 'How many ticks at the most'
complete -c pawl -n "__fish_seen_subcommand_from cron" \
    -s v -l verbose -d 'Print when commands begin and end'
complete -c pawl -n "__fish_seen_subcommand_from reconcile" \
    -l history -d 'Print when runs began and ended'
complete -c pawl -n "__fish_seen_subcommand_from reconcile" \
    -l name -x -d 'Of this reconciliation'
complete -c pawl -n "__fish_seen_subcommand_from reconcile" \
    -l last -x -a '10 50 100' -d 'How many runs at the most'
complete -c pawl -n "__fish_seen_subcommand_from once" -a 'unfinished failed purge'
complete -c pawl -n "__fish_seen_subcommand_from once" \
    -l older-than -x -a '0s 10min 1h' -d 'Whose lease has been over for this time'
complete -c pawl -n "__fish_seen_subcommand_from once" \
    -l last -x -a '10 50 1000' -d 'How many operations at the most'
complete -c pawl -n "__fish_seen_subcommand_from redlock" -a 'status init rejoin'
complete -c pawl -n "__fish_seen_subcommand_from redlock" \
    -l force -d 'init: also of members'
complete -c pawl -n "__fish_seen_subcommand_from redlock" \
    -s y -l yes -d 'init: do not ask for confirmation'
complete -c pawl -n "__fish_seen_subcommand_from bench" \
    -l for -x -a '1s 3s 10s' -d 'The duration of each measurement'
complete -c pawl -n "__fish_seen_subcommand_from acl" \
    -l for -x -a 'exclusive modes latches admin replicas disk' -d 'What the user does'
complete -c pawl -n "__fish_seen_subcommand_from acl" \
    -l cluster-node -d 'The server is a node of a cluster'
complete -c pawl -n "__fish_seen_subcommand_from schema" \
    -l role -x -d 'The role of the program that locks'
complete -c pawl -n "__fish_seen_subcommand_from schema" \
    -l guard -d 'The tables of pawl::guard instead'
complete -c pawl -n "__fish_seen_subcommand_from bench" -l name -x -d 'The lock to use'
complete -c pawl -n "__fish_seen_subcommand_from completion" -a 'bash zsh fish'
