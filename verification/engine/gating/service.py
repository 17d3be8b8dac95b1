"""A service, started and asked in its own container: by bash alone, which other tools can lack."""

from __future__ import annotations

import shlex

from verification.engine.gating.stages import Ready

# The service must not take the place of what watches it: that looks in the system's folders alone.
_WATCH = r"""
own=$PATH told=$LV_REPORT
PATH=/usr/local/bin:/usr/bin:/bin
command -v timeout sleep >/dev/null || exit 127
(unset LV_REPORT LV_COMMAND; PATH=$own; exec /bin/sh -ec "$1") </dev/null &
service=$! answer=none until=$4
exec >/dev/null 2>&1
ended() {
  wait "$service"; code=$?
  echo "ended $code $answer" >"$told"
  exit $((code ? code : 1))
}
while [ "$SECONDS" -le "$until" ]; do
  kill -0 "$service" || ended
  line=$(timeout -s KILL 3 /bin/bash -c "$5" ask "$2" "$3")
  if [[ $line =~ ^HTTP/[0-9.]+\ ([1-5][0-9][0-9])([^0-9]|$) ]]; then
    answer=${BASH_REMATCH[1]}
    if [ "$answer" -lt 500 ]; then
      sleep 0.5
      kill -0 "$service" || ended
      echo "ready $answer" >"$told"
      exit 0
    fi
  elif [ -n "$line" ]; then
    answer=other
  fi
  sleep 0.2
done
echo "late $answer" >"$told"
exit 1
"""
_ASK = r"""
exec 3<>"/dev/tcp/127.0.0.1/$1" || exec 3<>"/dev/tcp/localhost/$1" || exit 1
printf 'GET %s HTTP/1.1\r\nHost: localhost:%s\r\nAccept: */*\r\nConnection: close\r\n\r\n' "$2" "$1" >&3
IFS= read -r -n 60 -t 2 line <&3
printf %s "$line"
"""


def watched(command: str, ready: Ready) -> str:
    """The command that starts a service, asks it until it answers, and reports what became of it.

    Its report is one line: `ready STATUS`, `late STATUS` or `ended CODE STATUS`, where the status
    is the last that was answered, `other` for what was not HTTP, or `none`. It ends with 0 for
    `ready` alone, and like a service that ended.
    """
    words = [command, str(ready.port), ready.path, str(ready.seconds), _ASK]
    return shlex.join(["/bin/bash", "-c", _WATCH, "watch", *words])
