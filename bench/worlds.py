"""How often the gate promotes where no action matters, world by world, and how often it finds a rule that is true.

Each world is lived through once for every seed, and every proposer is asked about every action and error in it. In
the first columns anything promoted is false; in the last one rule is true, and only that counts. Takes minutes.
"""

from __future__ import annotations

import argparse
from typing import Final

from events.types.claims import AfterError
from tests.worlds import NO_TABLE, promoted
from tests.worlds.confounded import WORLDS, judgements, with_rule, world

RULE: Final = AfterError(template=NO_TABLE, do="sql:SHOW")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--episodes", type=int, nargs="+", default=[600, 2_400])
    parser.add_argument("--lift", type=float, default=0.2, help="what the rule adds, in outcome per episode")
    asked = parser.parse_args()
    title = f"true at {asked.lift:+.2f}"
    print(f"{'world':<16}{'episodes':>9}{'false':>7}{title:>14}   of {asked.seeds} seeds each")
    for name in WORLDS:
        for episodes in asked.episodes:
            false = kept = 0
            for seed in range(asked.seeds):
                records = world(name, seed, episodes=episodes)
                false += bool(promoted(judgements(records, str(seed))))
                planted = with_rule(records, RULE, seed, lift=asked.lift)
                kept += RULE in [judgement.claim for judgement in promoted(judgements(planted, str(seed)))]
            print(f"{name:<16}{episodes:>9,}{false:>7}{kept:>14}", flush=True)


if __name__ == "__main__":
    main()
