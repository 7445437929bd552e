"""Where the time and the memory of a program go."""

from zero import _later
from zero.autograd.profiler import record_function as record_function
from zero.profiler.profiler import (
    ProfilerAction as ProfilerAction,
    ProfilerActivity as ProfilerActivity,
    profile as profile,
    schedule as schedule,
    supported_activities as supported_activities,
    tensorboard_trace_handler as tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = _later.missing(__name__)
