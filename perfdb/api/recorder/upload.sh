# Uploading.

read_token() {
    token=${PERFDB_TOKEN:-}
    unset PERFDB_TOKEN
    [ -z "$token_file" ] || token=''
    own=${HOME:-}/.perfdb-token
    [ -n "$token$token_file" ] || [ ! -r "$own" ] || token_file=$own
    if [ -n "$token_file" ]; then
        [ -r "$token_file" ] || fail $usage_error "cannot read $token_file"
        IFS= read -r token <"$token_file" || [ -n "$token" ] || fail $usage_error "no token in $token_file"
    fi
    case $token in
    *[!A-Za-z0-9._~+/=-]*) fail $usage_error "this is no token" ;;
    esac
}

part() { # NAME [FILENAME]: the head of a part of the form
    printf '%s\r\n' "--$boundary"
    printf 'Content-Disposition: form-data; name="%s"' "$1"
    [ $# -lt 2 ] || printf '; filename="%s"' "$(printf %s "$2" | tr '\n\r\134' '___' | sed 's/"/\\"/g')"
    printf '\r\n\r\n'
}

# Prints the folder in which we are as a form: every file that holds something; hidden ones are our own notes, and
# what the tool said beside its output is in the snapshot after the run. Fails rather than leave a file out.
form() {
    for file in * */* */*/*; do
        if [ ! -f "$file" ] || [ ! -s "$file" ] || { [ "$file" = stderr.txt ] && [ -s output.txt ]; }; then continue; fi
        part files "$1/$file"
        cat -- "./$file" || return
        printf '\r\n'
    done
    if [ -s .study ]; then
        part study
        cat .study
        printf '\r\n'
    fi
    printf '%s\r\n' "--$boundary--"
}

# Three ways to ask, or with POST to send "$scratch/form". They keep the answer in "$scratch/answer" and print its HTTP
# status. The token goes through a pipe or a private file, never through arguments.
send_by_curl() { # METHOD ADDRESS
    [ "$1" = GET ] || set -- "$1" "$2" --header "$content_type" --data-binary "@$scratch/form"
    method=$1
    shift
    printf 'header = "Authorization: Bearer %s"\n' "$token" |
        curl --silent --show-error --config - --request "$method" --connect-timeout 10 --speed-limit 1 --speed-time 60 \
            --output "$scratch/answer" --write-out '%{http_code}' "$@"
}

send_by_wget() { # METHOD ADDRESS
    printf 'header = Authorization: Bearer %s\n' "$token" >"$scratch/wgetrc"
    [ "$1" = GET ] || set -- "$1" "$2" --header="$content_type" --post-file="$scratch/form"
    shift
    wget --config="$scratch/wgetrc" --tries=1 --timeout=60 --max-redirect=0 --content-on-error --server-response \
        --output-document="$scratch/answer" "$@" 2>"$scratch/said"
    sed -n 's/^ *HTTP\/[0-9.]* \([0-9]*\).*/\1/p' "$scratch/said" | tail -n 1
    grep -q '^ *HTTP/' "$scratch/said" || sed -n 's/^.*failed: /wget: /p' "$scratch/said" >&2
}

send_by_python() { # METHOD ADDRESS
    printf '%s' "$token" | python3 -c '
import pathlib, sys, urllib.error, urllib.request
method, address, content_type, form, answer = sys.argv[1:]
headers = {"Authorization": "Bearer " + sys.stdin.read()}
if method == "POST":
    headers["Content-Type"] = content_type.partition(": ")[2]
data = pathlib.Path(form).read_bytes() if method == "POST" else None
try:
    got = urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method), timeout=60)
except urllib.error.HTTPError as error:
    got = error
except OSError as error:
    sys.exit(f"python3: {error}")
pathlib.Path(answer).write_bytes(got.read())
print(got.status)
' "$1" "$2" "$content_type" "$scratch/form" "$scratch/answer"
}

send() { # METHOD ADDRESS: prints the HTTP status
    : >"$scratch/answer"
    if command -v curl >/dev/null; then
        send_by_curl "$@"
    elif wget --version 2>/dev/null | grep -q GNU; then
        send_by_wget "$@"
    elif command -v python3 >/dev/null; then
        send_by_python "$@"
    else
        say "there is no curl, wget or python3 here: take the folder to where there is one, or upload it with a browser"
    fi
}

detail() { # what the server said of its refusal
    sed -e "s/\\\\\"/'/g" "$scratch/answer" | sed -n 's/.*"detail": *"\([^"]*\)".*/: \1/p' | sed 1q
}

answered() { # KEY: its words in the answer
    grep -o "\"$1\": *\"[a-z-]*\"" "$scratch/answer" | cut -d '"' -f 4
}

push() { # FOLDER: it counts as uploaded when the server has said that it has it
    if [ -z "$url" ] || [ -z "$token" ]; then
        missing=token
        [ -n "$url" ] || missing=address
        say "$1 is kept and not uploaded: no $missing is known. Later: record.sh --url URL --push"
        return 1
    fi
    [ -z "$study" ] || printf '%s' "$study" >"$1/.study"
    [ -n "$scratch" ] || scratch=$(mktemp -d) || return
    boundary=perfdb-$(cat /proc/sys/kernel/random/uuid)
    content_type="Content-Type: multipart/form-data; boundary=$boundary"
    if ! (cd -- "$1" && name=$(pwd) && form "${name##*/}") >"$scratch/form"; then
        say "$1 is kept and not uploaded: it cannot be read, or there is no room for a copy"
        return 1
    fi
    http=$(send POST "$url/api/v1/uploads/")
    if [ "$http" != 202 ]; then
        say "$1 is kept and not uploaded: $url answered ${http:-nothing}$(detail)"
        return 1
    fi
    upload=$(sed -n 's/.*"id": *\([0-9]*\).*/\1/p' "$scratch/answer")
    printf '%s\n' "$url/uploads/$upload/" >"$1/.uploaded"
    say_outcome
}

say_outcome() {
    send GET "$url/api/v1/uploads/$upload/?wait=30" >/dev/null
    state=$(answered state | sed 1q)
    outcomes=$(answered outcome | tr '\n' ' ')
    errors=$(answered severity | grep -c error)
    say "uploaded, $url/uploads/$upload/ is ${state:-on its way}; runs: ${outcomes:-none }; errors: $errors"
}

push_all() { # [FOLDER...]
    left=0 asked=$#
    [ "$asked" -gt 0 ] || set -- "$records"/*/
    for folder; do
        folder=${folder%/}
        if [ ! -d "$folder" ]; then
            say "there is no folder $folder"
            [ "$asked" -eq 0 ] || left=$not_pushed
        elif [ -e "$folder/.uploaded" ]; then
            [ "$asked" -eq 0 ] || say "$folder is uploaded already"
        elif [ "$asked" -eq 0 ] && [ ! -e "$folder/.recorded" ]; then
            say "$folder is not finished; name it after --push to upload it all the same"
        else
            push "$folder" || left=$not_pushed
        fi
    done
    exit "$left"
}

list() {
    for folder in "$records"/*/; do
        folder=${folder%/}
        if [ -e "$folder/.uploaded" ]; then
            printf '%s\tuploaded\t%s\n' "$folder" "$(cat "$folder/.uploaded")"
        elif [ -e "$folder/.recorded" ]; then
            printf '%s\tnot uploaded\n' "$folder"
        elif [ -d "$folder" ]; then
            printf '%s\tnot finished\n' "$folder"
        fi
    done
}
