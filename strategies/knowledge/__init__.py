"""Knowledge: files that a skill answers from, packed in passages with their sources, looked up and checked."""
