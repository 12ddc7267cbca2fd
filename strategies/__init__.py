"""How change is found, proposed and judged."""
