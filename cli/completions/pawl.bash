# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# bash completion for pawl

# The options of the line that select the service. COMP_WORDS splits a URL at its colons, so the
# line is parsed here.
_pawl_service() {
    local -a words=()
    local i value
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    for ((i = 0; i + 1 < ${#words[@]}; i++)); do
        [[ ${words[i]} == -- ]] && return
        value=${words[i + 1]}
        case $value in
            \"*\" | \'*\') value=${value:1:${#value}-2} ;;
        esac
        case ${words[i]} in
            --on | --url-file) service=("${words[i]}" "$value") ;;
            --local) service=(--local) ;;
        esac
    done
}

# Adds the names to COMPREPLY, quoted for the line. Any user who may take a lock chooses its name,
# so the name must not be expanded here, and no part of it may run with the line.
_pawl_names() {
    local current=$1 line=${COMP_LINE:0:COMP_POINT} typed cut='' name quoted
    local breaks=${COMP_WORDBREAKS//[^:=@]/}
    local -a service=()
    _pawl_service
    typed=$current
    if [[ $current != [\"\']* ]]; then
        # Includes the text before a colon: readline completes only the text after it.
        [[ ${line##*[[:space:]]} == *"$current" ]] && typed=${line##*[[:space:]]}
        [[ -n $breaks ]] && cut=${typed%"${typed##*["$breaks"]}"}
    fi
    while IFS= read -r name; do
        [[ $name == -* ]] && continue
        case $typed in
            \'*)
                [[ $name == *\'* || $name != "${typed:1}"* ]] && continue
                COMPREPLY+=("$name")
                ;;
            \"*)
                quoted=${name//\\/\\\\}
                quoted=${quoted//\"/\\\"}
                quoted=${quoted//\$/\\\$}
                quoted=${quoted//\`/\\\`}
                [[ $name == *!* || $quoted != "${typed:1}"* ]] && continue
                COMPREPLY+=("$quoted")
                ;;
            *)
                printf -v quoted %q "$name"
                [[ $quoted == "$typed"* || $name == "$typed"* ]] || continue
                [[ $quoted == "$cut"* ]] || continue
                COMPREPLY+=("${quoted#"$cut"}")
                ;;
        esac
    done < <(timeout 2 pawl ls --names "${service[@]}" 2>/dev/null)
}

_pawl() {
    local current=${COMP_WORDS[COMP_CWORD]}
    local previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verbs='run elect status ls watch release resize redlock cron doctor acl schema bench'
    verbs+=' reconcile once completion'
    local service='--on --url-file --local' i
    COMPREPLY=()

    # The words after -- belong to the command.
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
            compopt -o filenames 2>/dev/null
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
        --for)
            if [[ ${COMP_WORDS[1]} == acl ]]; then
                local features='exclusive modes latches admin replicas disk'
                mapfile -t COMPREPLY < <(compgen -W "$features" -- "$current")
                return
            fi
            mapfile -t COMPREPLY < <(compgen -W '1s 10s 30s 1min 1h' -- "$current")
            return
            ;;
        --ttl | --max-hold | --min-hold | --interval)
            mapfile -t COMPREPLY < <(compgen -W '1s 10s 30s 1min 1h' -- "$current")
            return
            ;;
        --on)
            mapfile -t COMPREPLY < <(compgen -W '@pawl_schemes@' -- "$current")
            compopt -o nospace 2>/dev/null
            return
            ;;
        --permits)
            mapfile -t COMPREPLY < <(compgen -W '1 1/2 1/5' -- "$current")
            return
            ;;
        --durable)
            mapfile -t COMPREPLY < <(compgen -W 'primary replicas:1 disk' -- "$current")
            return
            ;;
        --also)
            _pawl_names "$current"
            return
            ;;
        --label | --name | --last | --busy-exit) return ;;
    esac

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$current")
        return
    fi

    local options="$service --help"
    case ${COMP_WORDS[1]} in
        run)
            options+=' --shared --permits --fair --no-token --also --durable --ttl --wait'
            options+=' --max-hold --min-hold --on-loss --label --busy-exit --quiet --verbose --'
            ;;
        elect) options+=' --durable --ttl --wait --max-hold --label --verbose --' ;;
        status | doctor) options+=' --json' ;;
        resize) options+=' --json --create' ;;
        redlock) options='--on --url-file --help --json --force --yes' ;;
        cron) options+=' --json --check --history --name --last --schema --verbose' ;;
        reconcile) options+=' --json --history --name --last' ;;
        once) options+=' --json --older-than --last' ;;
        ls) options+=' --json --names' ;;
        watch) options+=' --json --interval' ;;
        release) options+=' --json --force --yes --token' ;;
        acl) options+=' --json --for --cluster-node' ;;
        schema) options+=' --role --guard' ;;
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
                _pawl_names "$current"
                ;;
            cron)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                ;;
            redlock) mapfile -t COMPREPLY < <(compgen -W 'status init rejoin' -- "$current") ;;
            once) mapfile -t COMPREPLY < <(compgen -W 'unfinished failed purge' -- "$current") ;;
        esac
    fi
}

complete -F _pawl pawl
