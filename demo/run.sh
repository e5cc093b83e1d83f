#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo/run.sh BIN_DIR [FILE]
#
# Shows a real overload in about 15 seconds. An application logs through `spillway log` into an
# SQLite file; after two seconds another program takes the file's write lock and keeps it for six.
# Nothing is simulated. BIN_DIR holds the program spillway; FILE gives the lines instead of the
# built-in application. Exits with 0 if every line is accounted for.
set -euo pipefail
export LC_ALL=C.UTF-8

readonly lines_max=20000                       # Of FILE; more would make the account no clearer.
readonly ticks=140 ticks_per_second=10         # The application writes for 14 s.
readonly lock_at=2 release_at=8                # Seconds.

fail() { echo "run.sh: $1" >&2; exit 2; }

[[ $# -ge 1 && $# -le 2 ]] || fail "usage: demo/run.sh BIN_DIR [FILE]"
[[ -x $1/spillway ]] || fail "there is no program spillway in '$1'; build it first"
command -v sqlite3 > /dev/null || fail "this needs the sqlite3 shell (apt-get install sqlite3)"
spillway=$(cd "$1" && pwd)/spillway

# --- The stage ---

lines=()
if [[ $# -eq 2 ]]; then
  [[ -r $2 && ! -d $2 ]] || fail "cannot read '$2'"
  mapfile -t -n "$lines_max" lines < "$2"
  [[ ${#lines[@]} -gt 0 ]] || fail "'$2' has no lines"
  source="$(basename "$2") gives ${#lines[@]} lines"
  [[ ${#lines[@]} -lt $lines_max ]] || source+=" (the first; more are not taken)"
else
  for ((i = 1; i <= 700; i++)); do
    case $((i % 20)) in
      0) lines+=("ERROR payment $i failed: card declined") ;;
      7) lines+=("WARN order $i took 312 ms") ;;
      *) lines+=("INFO order $i accepted") ;;
    esac
  done
  source="An application writes ${#lines[@]} lines"
fi

start=0 writer='' application='' locker='' talk=''
directory=$(mktemp -d)
clean_up() {
  for child in $application $writer $locker $talk; do
    kill "$child" 2> /dev/null || true
  done
  wait
  rm -rf "$directory"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$directory"
mkfifo nothing talk
exec 9<> nothing                               # To wait for nothing, without a process.

micros() { REPLY=$((${EPOCHREALTIME/[.,]/} - start)); }

say() {
  micros
  printf '%4d.%d s  %s\n' $((REPLY / 1000000)) $((REPLY / 100000 % 10)) "$1"
}

# Until so many tenths of a second after the start.
wait_for_tick() {
  micros
  local left=$(($1 * 100000 - REPLY))
  if ((left > 0)); then
    read -r -u 9 -t "$((left / 1000000)).$(printf '%06d' $((left % 1000000)))" || true
  fi
}

# Writes all lines, spread evenly over the time, and notes its longest wait for the log.
application() {
  local tick longest=0 from=0 to
  for ((tick = 1; tick <= ticks; tick++)); do
    to=$((${#lines[@]} * tick / ticks))
    if ((to > from)); then
      micros; local before=$REPLY
      printf '%s\n' "${lines[@]:from:to-from}"
      micros; longest=$((REPLY - before > longest ? REPLY - before : longest))
    fi
    from=$to
    wait_for_tick "$tick"
  done
  echo "$longest" > longest_wait
}

rows() { sqlite3 demo.db "SELECT count(*) FROM logs WHERE context <> 'spillway'"; }

# --- The play ---

micros; start=$REPLY
say "$source in 14 s to:"
say "    spillway log --db sqlite:demo.db --write-pause 3s --error-interval 1s"
while read -r line; do say "    $line"; done < ./talk &
talk=$!
exec 3> >(exec "$spillway" log --db sqlite:demo.db --write-pause 3s --error-interval 1s \
            > closing_line 2> ./talk)
writer=$!
application >&3 &
application=$!
exec 3>&-

wait_for_tick $((lock_at * ticks_per_second))
say "The table has $(rows) rows. Now the sqlite3 shell takes its write lock and keeps it."
exec 4> >(exec sqlite3 -bail demo.db > lock)
locker=$!
printf '%s\n' '.timeout 3000' 'BEGIN IMMEDIATE;' "SELECT 'taken';" >&4

wait_for_tick $((release_at * ticks_per_second - 1))
[[ $(< lock) == taken ]] || fail "the sqlite3 shell did not get the lock"
say "The lines go on coming. The table still has $(rows) rows."
wait_for_tick $((release_at * ticks_per_second))
echo 'COMMIT;' >&4
exec 4>&-
wait "$locker"; locker=''
say "The lock is released. ERRORs are let through, one a second, until the pause is over."

wait "$application"; application=''
say "The last line is written. Its longest wait for the log: $(($(< longest_wait) / 1000)) ms."
result=0
wait "$writer" || result=$?
writer=''
wait "$talk"; talk=''
say "spillway ends with exit code $result."

# --- What is in the table ---

echo
echo 'The table, around the pause:'
sqlite3 -box demo.db "
  WITH gap AS (SELECT min(fields->>'from') AS begin, max(created_at) AS end
                 FROM logs WHERE context = 'spillway'),
  parts AS (SELECT created_at, seq, level, replace(message, char(27), '␛') AS message,
                   CASE WHEN context = 'spillway' THEN 3 WHEN created_at < begin THEN 1
                        WHEN created_at <= end THEN 2 ELSE 4 END AS part
              FROM logs, gap),
  places AS (SELECT *, row_number() OVER (PARTITION BY part ORDER BY created_at, seq) AS nth,
                    count(*) OVER (PARTITION BY part) AS size
               FROM parts)
  SELECT CASE part WHEN 1 THEN 'before' WHEN 2 THEN 'let through' WHEN 3 THEN 'the gap'
                   ELSE 'after' END AS '',
         substr(created_at, 12, 10) AS time, level,
         CASE WHEN length(message) > 60 THEN substr(message, 1, 59) || '…'
              ELSE message END AS message
    FROM places
   WHERE CASE part WHEN 1 THEN nth > size - 3 WHEN 2 THEN nth <= 5 WHEN 3 THEN 1
                   ELSE nth <= 3 END
   ORDER BY created_at, seq"
echo
echo 'The fields of the gap row:'
sqlite3 -box demo.db "SELECT key, value FROM logs, json_each(fields) WHERE context = 'spillway'"
echo
echo 'The closing line of spillway:'
sed 's/^/  /' closing_line

# --- The account ---

stored=$(rows)
named=$(sqlite3 demo.db "SELECT coalesce(sum(fields->>'total'), 0) FROM logs
                          WHERE context = 'spillway'")
echo
echo 'The account, counted in the table:'
printf '  %d rows + %d named in the gap row = %d; lines written: %d\n' \
  "$stored" "$named" $((stored + named)) "${#lines[@]}"
if ((stored + named != ${#lines[@]} || result != 0)); then
  echo '  It does not hold: lines are missing.'
  exit 1
fi
echo '  It holds: no line is lost without a trace.'
