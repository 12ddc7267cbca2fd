#!/bin/sh
# A `docker` for tests: keeps images and containers as folders beside itself, runs here what is run in them, and writes
# down what it was asked. A place of a container becomes its folder in arguments and in scripts, as there is no other
# root. Files beside it say what is to go wrong: `fails` and `hangs` name a subcommand, `vanishes` ends containers.
here=${0%/*}
call=$(printf '%s\037' "$@"); printf '%s\036' "$call" >>"$here/calls" # at once: others write too
word=$1; shift
[ "$word" = image ] && shift
if [ -e "$here/fails" ] && [ "$(cat "$here/fails")" = "$word" ]; then echo "no space left" >&2; exit 125; fi

name='' label='' tag='' user='' wanted='' volumes='' variables=''
while [ "${1#--}" != "$1" ]; do
  case $1 in
    --name) name=$2 ;; --label) label=$2 ;; --tag) tag=$2 ;; --user) user=$2 ;; --filter) wanted=${2#label=} ;;
    --volume) volumes="$volumes $2" ;; --env) variables="$variables $2" ;;
    --detach | --rm | --interactive | --all | --force) shift; continue ;;
  esac
  shift 2
done

if [ "$user" != 0 ] && [ -e "$here/hangs" ] && [ "$(cat "$here/hangs")" = "$word" ]; then
  echo "$word" >"$here/hanging" # from now on a test may take `hangs` away
  exec sleep 60
fi

rewritten() { # what is read, with the places of container $1 as folders
  sed -f "$here/containers/$1/places"
}

case $word in
  info) ;;
  build)
    image="$here/images/$tag"; mkdir -p "$image/files"; echo "$label" >"$image/label"
    while read -r instruction rest; do
      case $instruction in
        WORKDIR) echo "$rest" >"$image/workdir" ;;
        COPY) cp "$1/${rest% *}" "$image/files" ;;
        RUN) (cd "$image/files" && sh -c "$rest") || exit 1 ;;
      esac
    done <"$1/Dockerfile" ;;
  pull) mkdir -p "$here/images/$1/files" ;;
  image) cat "$here/images/$1/workdir" 2>/dev/null || test -d "$here/images/$1" ;;
  run)
    image="$here/images/$1"; place="$here/containers/$name"; mkdir -p "$place"; echo "$label" >"$place/label"
    workdir=$(cat "$image/workdir" 2>/dev/null || echo /app); cwd="$image/files"
    for volume in $volumes; do
      folder=${volume%%:*} inside=${volume#*:} inside=${inside%:Z}
      if [ "$inside" = "$workdir" ]; then cwd=$folder; else echo "s:$inside/:$folder/:g" >>"$place/places"; fi
      case $inside in /tests | /solution) echo "$folder" >>"$place/scripts" ;; esac
    done
    echo "s:$workdir\>:$cwd:g" >>"$place/places"; echo "$cwd" >"$place/cwd" ;;
  exec)
    container=$1; shift
    if [ -e "$here/vanishes" ]; then rm -rf "$here/containers/$container"; echo "no such container" >&2; exit 1; fi
    [ "$user" = 0 ] && exit 0 # what root is to do in there is not to be done here
    for folder in $(cat "$here/containers/$container/scripts" 2>/dev/null); do
      for script in "$folder"/*.sh; do rewritten "$container" <"$script" >"$script.here"; mv "$script.here" "$script"; done
    done
    for argument do # each argument once round
      set -- "$@" "$(printf '%s' "$argument" | rewritten "$container")"; shift
    done
    cd "$(cat "$here/containers/$container/cwd")" && exec env -i "PATH=$PATH" $variables "$@" ;;
  cp) tar c -C "$(cat "$here/containers/${1%%:*}/cwd")" . ;;
  inspect) if [ -d "$here/containers/$1" ]; then echo true; else echo false; fi ;;
  ps | images)
    [ "$word" = ps ] && kind=containers || kind=images
    for place in "$here/$kind"/*; do [ "$(cat "$place/label" 2>/dev/null)" = "$wanted" ] && echo "${place##*/}"; done ;;
  rm) rm -rf "$here/containers/$1" ;;
  rmi) rm -rf "$here/images/$1" ;;
esac
