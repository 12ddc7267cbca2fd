#!/bin/sh
# Shows the branch, what is not committed, what is stashed and what is not pushed.
set -eu

echo "branch: $(git branch --show-current)"
git status --short
git stash list
git log --oneline '@{upstream}..' 2>/dev/null || echo "no upstream branch"
