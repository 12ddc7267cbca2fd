"""The kinds of claim: when each applies, what obeying it looks like, and the sentence that says it."""
