# bash completion for pawl

_pawl_names() {
    local -a place=()
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --on | --url-file) place=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;;
        esac
    done
    timeout 2 pawl ls --names "${place[@]}" 2>/dev/null
}

_pawl() {
    local current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verbs='run elect status ls watch release resize doctor bench completion'
    local place='--on --url-file --local' i
    COMPREPLY=()

    # Behind -- stands somebody else's command.
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- && ${COMP_WORDS[1]} =~ ^(run|elect)$ ]]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            else
                mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
            fi
            return
        fi
    done

    case $previous in
        --url-file)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
            ;;
        --on-loss)
            mapfile -t COMPREPLY < <(compgen -W 'kill term continue' -- "$current")
            return
            ;;
        --wait)
            mapfile -t COMPREPLY < <(compgen -W '0 10s 1min forever' -- "$current")
            return
            ;;
        --ttl | --max-hold | --min-hold | --interval | --for)
            mapfile -t COMPREPLY < <(compgen -W '1s 10s 30s 1min 1h' -- "$current")
            return
            ;;
        --on)
            local schemes='redis:// rediss:// redis+unix:// sqlite:'
            mapfile -t COMPREPLY < <(compgen -W "$schemes" -- "$current")
            compopt -o nospace 2>/dev/null
            return
            ;;
        --permits)
            mapfile -t COMPREPLY < <(compgen -W '1 1/2 1/5' -- "$current")
            return
            ;;
        --also)
            local IFS=$'\n'
            mapfile -t COMPREPLY < <(compgen -W "$(_pawl_names)" -- "$current")
            return
            ;;
        --label | --name | --busy-exit) return ;;
    esac

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$current")
        return
    fi

    local options="$place --help"
    case ${COMP_WORDS[1]} in
        run)
            options+=' --shared --permits --fair --no-token --also --ttl --wait'
            options+=' --max-hold --min-hold --on-loss --label --busy-exit --verbose --'
            ;;
        elect) options+=' --ttl --wait --max-hold --label --verbose --' ;;
        status | doctor) options+=' --json' ;;
        resize) options+=' --json --create' ;;
        ls) options+=' --json --names' ;;
        watch) options+=' --json --interval' ;;
        release) options+=' --json --force --yes' ;;
        bench) options+=' --json --for --name' ;;
        completion)
            mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current")
            return
            ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    else
        case ${COMP_WORDS[1]} in
            run | elect | status | ls | watch | release | resize)
                local IFS=$'\n'
                mapfile -t COMPREPLY < <(compgen -W "$(_pawl_names)" -- "$current")
                ;;
        esac
    fi
}

complete -F _pawl pawl
