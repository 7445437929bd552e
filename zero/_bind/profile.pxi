# Where the profiler sees operators: at the border of Python. While it is on, functions have another
# entry, and Tensor's operators other slots; while it is off, nothing of it is left. Nodes of a
# backward pass are noted by the engine, modules by their calls.
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

    // ---- functions: see zero_guard -----------------------------------------------------------
    template <int K>
    static PyObject* zero_spanned(PyObject* f, PyObject* const* args, size_t n, PyObject* names) {
      const zero_Span span(f, args, PyVectorcall_NARGS(n));
      return zero_guarded<K>(f, args, n, names);
    }
    static constexpr vectorcallfunc zero_spans[] = ZERO_GUARDS(zero_spanned);

    // Functions with *args have no entry: they take a tuple and a dict.
    static PyObject* zero_spanned_call(PyObject* f, PyObject* const* args, size_t nargs,
                                       PyObject* names) {
      const Py_ssize_t n = PyVectorcall_NARGS(nargs);
      const zero_Span span(f, args, n);
      PyObject* given = PyTuple_New(n);
      PyObject* named = given == nullptr || names == nullptr ? nullptr : PyDict_New();
      PyObject* result = nullptr;
      bool ready = given != nullptr && (names == nullptr) == (named == nullptr);
      for (Py_ssize_t i = 0; ready && i < n; ++i) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
      for (Py_ssize_t i = 0; ready && named != nullptr && i < PyTuple_GET_SIZE(names); ++i)
        ready = PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[n + i]) == 0;
      if (ready) {
        auto* function = reinterpret_cast<PyCFunctionObject*>(f);
        auto* call = reinterpret_cast<PyCFunctionWithKeywords>(
            reinterpret_cast<void (*)()>(function->m_ml->ml_meth));
        result = call(function->m_self, given, named);
      }
      Py_XDECREF(given);
      Py_XDECREF(named);
      return result;
    }

    static void zero_set_entry(PyObject* f, bool on) {
      vectorcallfunc* entry = zero_entry_of(f);
      if (entry == nullptr) return;
      if (*entry == (on ? nullptr : zero_spanned_call)) {
        const int kind = reinterpret_cast<PyCFunctionObject*>(f)->m_ml->ml_flags;
        if (kind == (METH_VARARGS | METH_KEYWORDS))
          *entry = on ? zero_spanned_call : nullptr;
        return;
      }
      for (int k = 0; k < zero_max_entries; ++k) {
        if (*entry != (on ? zero_guards[k] : zero_spans[k])) continue;
        *entry = on ? zero_spans[k] : zero_guards[k];
        return;
      }
    }

    // ---- Python's operators ------------------------------------------------------------------
    // clang-format off
    #define ZERO_SLOTS(S)                                                                       \\
      S(number, nb_add, "add") S(number, nb_subtract, "sub") S(number, nb_multiply, "mul")      \\
      S(number, nb_true_divide, "div") S(number, nb_floor_divide, "floor_divide")               \\
      S(number, nb_remainder, "remainder") S(number, nb_power, "pow")                           \\
      S(number, nb_matrix_multiply, "matmul") S(number, nb_negative, "neg")                     \\
      S(number, nb_absolute, "abs") S(number, nb_invert, "bitwise_not")                         \\
      S(number, nb_and, "bitwise_and") S(number, nb_or, "bitwise_or")                           \\
      S(number, nb_xor, "bitwise_xor") S(number, nb_lshift, "bitwise_left_shift")               \\
      S(number, nb_rshift, "bitwise_right_shift") S(number, nb_inplace_add, "add_")             \\
      S(number, nb_inplace_subtract, "sub_") S(number, nb_inplace_multiply, "mul_")             \\
      S(number, nb_inplace_power, "pow_") S(number, nb_inplace_true_divide, "div_")             \\
      S(number, nb_inplace_floor_divide, "floor_divide_")                                       \\
      S(number, nb_inplace_remainder, "remainder_")                                             \\
      S(number, nb_inplace_matrix_multiply, "matmul_")                                          \\
      S(number, nb_inplace_and, "bitwise_and_") S(number, nb_inplace_or, "bitwise_or_")         \\
      S(number, nb_inplace_xor, "bitwise_xor_")                                                 \\
      S(number, nb_inplace_lshift, "bitwise_left_shift_")                                       \\
      S(number, nb_inplace_rshift, "bitwise_right_shift_") S(mapping, mp_subscript, "getitem")  \\
      S(mapping, mp_ass_subscript, "setitem")
    // clang-format on
    enum zero_SlotNumber {
    #define S(table, field, name) zero_at_##field,
      ZERO_SLOTS(S)
    #undef S
      zero_slot_count
    };
    static PyObject* zero_slot_names[zero_slot_count];
    static PyObject* zero_compare_names[6];
    static void* zero_slots[zero_slot_count];  // Tensor's own
    static richcmpfunc zero_compare;

    template <int I, class F>
    struct zero_SpannedSlot;
    template <int I, class R, class... A>
    struct zero_SpannedSlot<I, R (*)(A...)> {
      static R call(A... args) {
        PyObject* const objects[] = {args...};
        const zero_Span span(zero_slot_names[I], objects, 2 < sizeof...(A) ? 2 : sizeof...(A));
        return reinterpret_cast<R (*)(A...)>(zero_slots[I])(args...);
      }
    };
    static PyObject* zero_spanned_compare(PyObject* a, PyObject* b, int op) {
      PyObject* const objects[] = {a, b};
      const zero_Span span(zero_compare_names[op], objects, 2);
      return zero_compare(a, b, op);
    }

    template <int I, class F>
    static void zero_set_slot(F* slot, bool on) {
      const F spanned = zero_SpannedSlot<I, F>::call;
      const F own = reinterpret_cast<F>(zero_slots[I]);
      if (own != nullptr && *slot == (on ? own : spanned)) *slot = on ? spanned : own;
    }
    static void zero_set_compare(richcmpfunc* slot, bool on) {
      if (*slot == (on ? zero_compare : zero_spanned_compare))
        *slot = on ? zero_spanned_compare : zero_compare;
    }
    static void zero_take_slots(PyTypeObject* tensor) {
      zero_compare = tensor->tp_richcompare;
      const char* const names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
      for (int i = 0; i < 6; ++i) zero_compare_names[i] = PyUnicode_InternFromString(names[i]);
    #define S(table, field, name)                                                            \\
      zero_slots[zero_at_##field] = reinterpret_cast<void*>(tensor->tp_as_##table->field);   \\
      zero_slot_names[zero_at_##field] = PyUnicode_InternFromString(name);
      ZERO_SLOTS(S)
    #undef S
    }
    // Of Tensor, which comes first, and of its subclasses, which have copies of its slots.
    static void zero_set_slots(PyObject* o, bool on) {
      auto* type = reinterpret_cast<PyTypeObject*>(o);
      if (zero_compare == nullptr) zero_take_slots(type);
    #define S(table, field, name)                                                            \\
      if (type->tp_as_##table != nullptr)                                                    \\
        zero_set_slot<zero_at_##field>(&type->tp_as_##table->field, on);
      ZERO_SLOTS(S)
    #undef S
      zero_set_compare(&type->tp_richcompare, on);
    }
    // Tensor.__add__ and its like, which the slots of some subclasses look up.
    static void zero_set_method(PyObject* o, bool on) {
      if (!Py_IS_TYPE(o, &PyWrapperDescr_Type)) return;
      void** wrapped = &reinterpret_cast<PyWrapperDescrObject*>(o)->d_wrapped;
    #define S(table, field, name)                                                            \\
      using zero_##field = decltype(static_cast<PyTypeObject*>(nullptr)->tp_as_##table->field); \\
      zero_set_slot<zero_at_##field>(reinterpret_cast<zero_##field*>(wrapped), on);
      ZERO_SLOTS(S)
    #undef S
      zero_set_compare(reinterpret_cast<richcmpfunc*>(wrapped), on);
    }
    """
    void set_entry "zero_set_entry"(object function, bint on) noexcept
    void set_slots "zero_set_slots"(object type, bint on) noexcept
    void set_method "zero_set_method"(object method, bint on) noexcept
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

# Functions that compute nothing: those called is_…, get_…, set_… and register_…, and these.
cdef set queries = set("""
    _anomaly _attach _attention_backends _autocast_cache _autocast_nesting _autocast_state _become
    _call_module _current_pass _decorated _fused_sdp_choice _gradient_edge _increment_version
    _is_view _last_sequence_nr _pass_is_partial _pass_reaches _pop_saved_tensors_hooks
    _profile_begin _profile_end _profile_events _profile_start _profile_stop
    _push_saved_tensors_hooks _quick_slots _repr_html_ _saved_tensors_hooks_disabled _set_anomaly
    _set_attention_backends _set_autocast_state _stand_in can_cast data_ptr dim element_size
    empty_cache initial_seed manual_seed memory_stats ndimension nelement numel promote_types
    requires_grad_ reset_peak_memory_stats result_type retain_grad seed show_config size storage
    storage_offset stride untyped_storage
    """.split())
cdef list operators = None  # functions; made when they are first needed


cdef list operators_of(dict names):
    cdef list result = []
    for function in [*names.values(), *Tensor.__dict__.values()]:
        if not isinstance(function, type(add)):
            continue
        name = function.__name__
        if not (name in queries or name.startswith(("__", "is_", "get_", "register_"))
                or (name.startswith("set_") and name != "set_")):
            result.append(function)
    return result


cdef int switch(bint on) except -1:
    cdef object type_
    cdef list types = [Tensor]
    for function in operators:
        set_entry(function, on)
    for type_ in types:  # grows
        set_slots(type_, on)
        types.extend(type.__subclasses__(type_))
    for method in Tensor.__dict__.values():
        set_method(method, on)
    return 0


def _profile_start(sizes):
    """Notes operators, nodes, modules and what _profile_begin names from now on.

    Args:
        sizes: whether the sizes of arguments are noted, too.
    """
    global operators
    if operators is None:
        operators = operators_of(globals())
    profiles.start_profile(bool(sizes))
    switch(True)


def _profile_stop():
    """Ends that."""
    switch(False)
    profiles.stop_profile()


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
