"""Shares of one error rate for claims that come one after the other, and whose number nobody knows beforehand.

alpha/m for the m-th claim sums to alpha * (1 + 1/2 + … + 1/m): 2.7 alpha over eight claims, and without end. The
shares here sum to alpha however many follow: after m of them alpha/(m + 1) is left. The first claim may spend
half, since most logs show few rules and the queue brings first what cost most; the others fall about as slowly as
a sum that ends allows. One-sided z asked of claims 1, 2, 3, 8 and 50 at alpha .01: 2.58, 2.94, 3.14, 3.64, 4.47
(alpha/m: 2.33, 2.58, 2.71, 3.02, 3.54; halving each time: 2.58, 2.81, 3.02, 3.95, 8.51).

A claim that is promoted gives its share back. Before the first false promotion only true claims were promoted, so
the k-th of the false ones meets k - 1 or more that were asked and not promoted, and may spend no more than the
k-th share: the chance of any false promotion stays within alpha, whatever the claims have to do with each other.
Sources: alpha spending, Foster & Stine 2008; what rejections give back, Tian & Ramdas 2021 (online fallback).
"""

from __future__ import annotations


def nth_share(alpha: float, number: int) -> float:
    """Compute what a claim of this number may spend, counted from 1 among those not promoted; 0: all of alpha."""
    return alpha / (number * (number + 1)) if number else alpha
