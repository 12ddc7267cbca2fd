"""What runs between germline and a command it does not trust; standard library only, so that it starts fast."""
