"""Training: a skill learns from runs on tasks, epoch by epoch, until budget or rest."""
