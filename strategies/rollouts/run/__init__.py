"""One run of an agent: its workspace, its tools, its graders."""
