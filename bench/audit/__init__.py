"""What an audit makes of skills whose planted passages are known, by graders that no audit sees."""
