# What the profiler notes of operators; how it sees them is in watch.pxi. Nodes of a backward pass
# are noted by the engine, modules by their calls.
from zero._cpp.profile cimport CEvent

cdef extern from *:
    """
    #include <cstddef>

    #include "zero/autograd/engine.h"
    #include "zero/core/profile.h"

    static void (*zero_note_sizes)(int64_t span, PyObject* const* args, Py_ssize_t n);

    class zero_Span {
     public:
      zero_Span(PyObject* what, PyObject* const* args, Py_ssize_t n)
          : span_(zero::begin_span(zero::SpanKind::Operator, what, zero::last_sequence_nr())) {
        if (zero::profiling_sizes && span_ >= 0) zero_note_sizes(span_, args, n);
      }
      ~zero_Span() { zero::end_span(span_, zero::last_sequence_nr()); }

     private:
      int64_t span_;
    };
    """
    void (*note_sizes_hook "zero_note_sizes")(int64_t, PyObject* const*, Py_ssize_t) noexcept


cdef void note_sizes(int64_t span, PyObject* const* args, Py_ssize_t n) noexcept:
    cdef Py_ssize_t i
    profiles.begin_sizes(span, n)
    for i in range(n):
        if args[i] is not NULL and isinstance(<object> args[i], Tensor):
            profiles.add_sizes(&(<Tensor> <object> args[i]).c.sizes())
        else:
            profiles.add_sizes(NULL)


note_sizes_hook = note_sizes


def _profile_start(sizes):
    """Notes operators, nodes, modules and what _profile_begin names from now on.

    Args:
        sizes: whether the sizes of arguments are noted, too.
    """
    profiles.start_profile(bool(sizes))
    watch(True)


def _profile_stop():
    """Ends that."""
    profiles.stop_profile()
    watch(False)


def _profile_begin(name):
    """Begins a span of the user's; returns its number."""
    return begin_held(CSpanKind.User, name)


def _profile_end(span):
    """Ends a span."""
    profiles.end_span(span, engine.last_sequence_nr())


cdef object sizes_of_event(const CEvent& event):
    cdef const int64_t* at = profiles.event_sizes(event)
    cdef list result = []
    cdef int64_t i, k, n = at[0]
    at += 1
    for i in range(n):
        result.append([at[1 + k] for k in range(at[0])])
        at += 1 + (at[0] if at[0] > 0 else 0)
    return result


def _profile_events():
    """What was noted, in the order of beginnings; forgets it.

    Each is (kind, what, parent, thread, start, end, bytes, copies, copied_bytes, first, last,
    sizes): kind 0 is an operator, 1 a node, 2 a module, 3 a span of the user's; what is a name or a
    module; parent is the place of the event that it lies in, or -1; times are nanoseconds; first
    and last are numbers of nodes.
    """
    cdef int64_t i
    cdef const CEvent* e
    cdef list result = []
    for i in range(profiles.event_count()):
        e = &profiles.event_at(i)
        if e.kind == CSpanKind.Node:
            what = (<const char*> e.what).decode()
        else:
            what = <object> <PyObject*> e.what
            if isinstance(what, type(add)):
                what = what.__name__.lstrip("_")
        result.append((<int> e.kind, what, e.parent, e.thread, e.start, e.end, e.bytes, e.copies,
                       e.copied_bytes, e.first, e.last,
                       sizes_of_event(e[0]) if e.sizes >= 0 else None))
    profiles.forget_profile()
    held.clear()
    return result
