#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stock XGBoost over hosts, of which one is lost in the middle of the training and replaced: the model that an undisturbed training over
# as many hosts ends with. The full tier: four hosts, eight ranks.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null || skip "XGBoost 1.7 is missing (package python3-xgboost)"
[ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] || skip "the data is missing (package dataset-fashion-mnist)"
hosts=h1,h2,h3 ranks=2 spare=h3 victim=h2 watched=1 at=2 size="--rows 1000 --rounds 8 --depth 4"
if full; then
    hosts=h1:2,h2:2,h3:2,h4:2,h5:2 ranks=8 spare=h5 victim=h3 watched=5 at=4 size="--rows 8000 --rounds 10 --depth 6"
fi
lab boot h1 h2 h3
! full || lab boot h4 h5

# train NAME: begins; its output will be $tmp/out.
train() {
    mkdir -p "$tmp/$1"
    begin -n $ranks --host "$hosts" --spares 1 --survive host --rabit $python "$here/../programs/xgboost/train.py" --status "$tmp/$1" $size
}
in_round() {
    local state=starting round=-1
    read -r _ state round <"$tmp/lost/rank-$watched" && [ "$state" = round ] && [ "$round" -ge "$at" ]
} 2>/dev/null

train undisturbed
ended 240
expect_code 0
[ "$(grep -c 'SHA-256' "$tmp/out")" = $ranks ] || fail "undisturbed: not a model of every rank"
[ "$(sed -n 's/.*SHA-256 of the model //p' "$tmp/out" | sort -u | wc -l)" = 1 ] || fail "undisturbed: the models differ"
sort "$tmp/out" >"$tmp/wanted"

train lost
until_true 120 in_round || fail "rank $watched does not get to round $at"
lab lose $victim
ended 240
expect_code 0
expect_err "start again on $spare"
sort "$tmp/out" | diff - "$tmp/wanted" >"$tmp/diff" || { fail "the output is another one:" && head "$tmp/diff"; }
nothing_on h1 $spare
finish
