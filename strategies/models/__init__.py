"""Models that are asked for proposals, judgement and advice: within caps, with all kept that was paid for."""
