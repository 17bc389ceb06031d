#!/bin/sh
# Checks every fabric named: what pre-commit runs. Ends with the worst code of all.
worst=0
for fabric in "$@"; do
  rocefort check "$fabric"
  code=$?
  [ "$code" -le "$worst" ] || worst=$code
done
exit "$worst"
