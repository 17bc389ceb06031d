#!/bin/sh
# Reviews a change and, in CI, keeps one comment on its pull or merge request up to date.
# Run locally it only writes the files:
#   ROCEFORT_BASE=main docs/ci/review.sh
# Ends as `rocefort review` does (0 nothing new of severity error, 1 new errors, 2 and more: no
# review); a comment that cannot be posted is told and changes nothing of that.
set -u

out=${ROCEFORT_OUT:-review}
mark='<!-- rocefort review -->'

# What an earlier run left would pass for this one's.
rm -f "$out/review.md" "$out/review.html" "$out/review.json" "$out/review.sarif"
if [ -n "${ROCEFORT_BATFISH_WAIT_S:-${CI:+120}}" ] && [ "${ROCEFORT_ENGINE:-auto}" = both ]; then
  service=${ROCEFORT_BATFISH:-127.0.0.1:9996}
  host=${service%:*} port=${service##*:}
  left=${ROCEFORT_BATFISH_WAIT_S:-120} # a service container may still be starting
  until python3 -c 'import socket, sys; socket.create_connection(sys.argv[1:], 2)' \
    "$host" "$port" 2>/dev/null || [ "$left" -le 0 ]; do
    sleep 2
    left=$((left - 2))
  done
fi

# shellcheck disable=SC2086 # no fabric named is no argument
rocefort review ${ROCEFORT_FABRIC:+"$ROCEFORT_FABRIC"} \
  --base "${ROCEFORT_BASE:-HEAD}" --head "${ROCEFORT_HEAD:-worktree}" \
  --engine "${ROCEFORT_ENGINE:-auto}" --out "$out"
code=$?

failed() { echo "review.sh: the comment could not be posted" >&2; }

# The token is in a file of this user alone: arguments are shown to everybody on the machine.
header=$(mktemp) || { failed; exit "$code"; }
trap 'rm -f "$header"' EXIT

post() { # the body on standard input: METHOD URL
  curl --fail --silent --show-error --request "$1" --header "@$header" \
    --header 'Content-Type: application/json' --data @- "$2" >/dev/null
}

body() { # the comment as JSON; where there is no review, that
  if [ -f "$out/review.md" ]; then cat "$out/review.md"; else
    printf '%s\n## Rocefort: no review\n\nThe review ended with code %s; its log says why.\n' \
      "$mark" "$code"
  fi | python3 -c 'import json, sys; print(json.dumps({"body": sys.stdin.read()}))'
}

comment_of() { # id of the comment that an earlier run made: LIST-URL
  page=1
  while :; do
    found=$(curl --fail --silent --show-error --header "@$header" "$1?per_page=100&page=$page" |
      python3 -c '
import json, sys
own = json.load(sys.stdin)
mine = (c["id"] for c in own if (c["body"] or "").startswith(sys.argv[1]))
print(next(mine, "more" if len(own) == 100 else ""))
' "$mark") || return 1
    [ "$found" = more ] || break
    page=$((page + 1))
  done
  echo "$found"
}

keep_comment() { # LIST-URL ONE-URL METHOD-OF-UPDATE
  id=$(comment_of "$1") || return 1
  if [ -n "$id" ]; then body | post "$3" "$2/$id"; else body | post POST "$1"; fi
}

if [ -n "${GITHUB_ACTIONS:-}" ] && [ -n "${GITHUB_TOKEN:-}" ] && [ -n "${PULL_REQUEST:-}" ]; then
  issues="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues"
  echo "Authorization: Bearer $GITHUB_TOKEN" >"$header"
  keep_comment "$issues/$PULL_REQUEST/comments" "$issues/comments" PATCH || failed
elif [ -n "${GITLAB_CI:-}" ] && [ -n "${ROCEFORT_GITLAB_TOKEN:-}" ]; then
  notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
  echo "PRIVATE-TOKEN: $ROCEFORT_GITLAB_TOKEN" >"$header"
  keep_comment "$notes" "$notes" PUT || failed
fi
exit "$code"
