"""What DataLoader and its workers share: reading, collating, seeds and pinning."""

from zero.utils.data._utils import (
    collate as collate,
    fetch as fetch,
    pin_memory as pin_memory,
    worker as worker,
)
