"""oneDNN: not used. The switches can be set; they change nothing."""

__all__ = ["allow_tf32", "deterministic", "enabled", "is_available"]

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: zero is not linked with oneDNN."""
    return False
