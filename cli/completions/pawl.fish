# fish completion for pawl

function __pawl_names
    set -l words (commandline -opc)
    set -l place
    for option in --on --url-file
        if set -l at (contains -i -- $option $words)
            set place $option $words[(math $at + 1)]
        end
    end
    contains -- --local $words; and set place --local
    timeout 2 pawl ls --names $place 2>/dev/null
end

function __pawl_behind_mark
    contains -- -- (commandline -opc)
end

set -l verbs run elect status ls watch release resize doctor bench completion
set -l named run elect status ls watch release resize

complete -c pawl -f
complete -c pawl -n __fish_use_subcommand -l help -d 'Show help'
complete -c pawl -n __fish_use_subcommand -l version -d 'Show the version'
complete -c pawl -n __fish_use_subcommand -a run -d 'Run a command while holding a lock'
complete -c pawl -n __fish_use_subcommand -a elect -d 'Keep exactly one of many running'
complete -c pawl -n __fish_use_subcommand -a status -d 'Show who holds a lock'
complete -c pawl -n __fish_use_subcommand -a ls -d 'List the locks'
complete -c pawl -n __fish_use_subcommand -a watch -d 'Show the locks live'
complete -c pawl -n __fish_use_subcommand -a release -d 'Take a lock from its holder'
complete -c pawl -n __fish_use_subcommand -a resize -d 'Say how many permits there are'
complete -c pawl -n __fish_use_subcommand -a doctor -d 'Examine the service'
complete -c pawl -n __fish_use_subcommand -a bench -d 'Measure the service'
complete -c pawl -n __fish_use_subcommand -a completion -d 'Print a completion script'

complete -c pawl -n "__fish_seen_subcommand_from $named; and not __pawl_behind_mark" \
    -a '(__pawl_names)' -d lock
complete -c pawl -n __pawl_behind_mark \
    -a '(__fish_complete_subcommand --fcs-skip=(math (contains -i -- -- (commandline -opc))))'
complete -c pawl -n "__fish_seen_subcommand_from $verbs" \
    -l on -x -a 'redis:// rediss:// redis+unix:// sqlite:' -d 'Where the locks live'
complete -c pawl -n "__fish_seen_subcommand_from $verbs" \
    -l url-file -r -F -d 'Read the URL from a file'
complete -c pawl -n "__fish_seen_subcommand_from $verbs" \
    -l local -d 'In a file of this user'
complete -c pawl -n "__fish_seen_subcommand_from status ls watch release resize doctor bench" \
    -l json -d 'Print JSON'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l ttl -x -a '10s 30s 1min' -d 'The lease'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l wait -x -a '0 10s 1min forever' -d 'How long to wait'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l max-hold -x -a '10min 1h' -d 'Stop the command after this long'
complete -c pawl -n "__fish_seen_subcommand_from run" -l shared -d 'Beside other readers'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l permits -x -a '1 1/2 1/5' -d 'K of the N permits of a semaphore'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l fair -d 'Strictly in the order of asking'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l no-token -d 'Take no fencing token'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l also -x -a '(__pawl_names)' -d 'Another lock, all or none'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l min-hold -x -a '10s 1min' -d 'Keep the lock at least this long'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l on-loss -x -a 'kill term continue' -d 'When the lock is lost'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -l busy-exit -x -d 'The status when the lock is not free'
complete -c pawl -n "__fish_seen_subcommand_from run elect" \
    -l label -x -d 'What others see as the command'
complete -c pawl -n "__fish_seen_subcommand_from run" \
    -s q -l quiet -d 'Say nothing of a lock that is not free'
complete -c pawl -n "__fish_seen_subcommand_from run elect" -s v -l verbose -d 'Tell of reconnects'
complete -c pawl -n "__fish_seen_subcommand_from ls" -l names -d 'Only the names'
complete -c pawl -n "__fish_seen_subcommand_from watch" \
    -l interval -x -a '500ms 1s 5s' -d 'How often to look'
complete -c pawl -n "__fish_seen_subcommand_from release" -l force -d 'Take it from its holder'
complete -c pawl -n "__fish_seen_subcommand_from resize" -l create -d 'Make it where there is none'
complete -c pawl -n "__fish_seen_subcommand_from release" -s y -l yes -d 'Do not ask'
complete -c pawl -n "__fish_seen_subcommand_from bench" \
    -l for -x -a '1s 3s 10s' -d 'How long each part takes'
complete -c pawl -n "__fish_seen_subcommand_from bench" -l name -x -d 'The lock to use'
complete -c pawl -n "__fish_seen_subcommand_from completion" -a 'bash zsh fish'
