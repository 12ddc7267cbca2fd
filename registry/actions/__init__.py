"""What a person does to a registry as a whole: publish, undo, erase, attest."""
