# Operators that are watched at the border of Python. While the profiler is on or a vmap runs,
# functions have another entry, and Tensor's operators other slots; at other times nothing of it is
# left. The profiler notes a call. A vmap takes over one that has a batched tensor among its
# arguments, and draws of random numbers on its thread; every other call goes its way.
cimport cython

cdef extern from *:
    """
    #include <structmember.h>  // PyMemberDef, before Python 3.12

    #include <unordered_set>
    #include <vector>

    static int zero_vmaps;  // that run, on all threads
    static thread_local PyObject* zero_level;  // of this thread's innermost vmap; borrowed
    static PyTypeObject* zero_batched_type;
    static Py_ssize_t zero_physical_at, zero_level_at;  // where its instances keep these
    static int (*zero_depth_of)(PyObject* level);
    static PyObject* (*zero_call_batched)(PyObject* f, PyObject* level, PyObject* const* args,
                                          Py_ssize_t n, PyObject* names);
    static std::unordered_set<PyObject*>& zero_draws() {
      static auto* draws = new std::unordered_set<PyObject*>;
      return *draws;
    }

    static PyObject** zero_member(PyObject* o, Py_ssize_t at) {
      return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(o) + at);
    }
    static Py_ssize_t zero_member_at(PyObject* descriptor) {
      return reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member->offset;
    }
    static void zero_set_members(PyObject* o, PyObject* physical, PyObject* level) {
      *zero_member(o, zero_physical_at) = Py_NewRef(physical);
      *zero_member(o, zero_level_at) = Py_NewRef(level);
    }

    // The innermost level among arguments and in lists and tuples of them; borrowed, null if none.
    static PyObject* zero_deepest(PyObject* const* args, Py_ssize_t n, PyObject* level,
                                  int nested) {
      for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* const a = args[i];
        if (a == nullptr) continue;
        if (Py_IS_TYPE(a, zero_batched_type)) {
          PyObject* const own = *zero_member(a, zero_level_at);
          if (level == nullptr || (own != level && zero_depth_of(own) > zero_depth_of(level)))
            level = own;
        } else if (nested > 0 && PyTuple_Check(a)) {
          level = zero_deepest(reinterpret_cast<PyTupleObject*>(a)->ob_item, PyTuple_GET_SIZE(a),
                               level, nested - 1);
        } else if (nested > 0 && PyList_Check(a)) {
          level = zero_deepest(reinterpret_cast<PyListObject*>(a)->ob_item, PyList_GET_SIZE(a),
                               level, nested - 1);
        }
      }
      return level;
    }
    // The level that takes a call over.
    static PyObject* zero_level_for(PyObject* f, PyObject* const* args, Py_ssize_t n) {
      if (zero_vmaps == 0) return nullptr;
      PyObject* const level = zero_deepest(args, n, nullptr, 2);
      return zero_level != nullptr && zero_draws().count(f) > 0 ? zero_level : level;
    }

    // ---- functions: see zero_guard -----------------------------------------------------------
    template <int K>
    static PyObject* zero_watched(PyObject* f, PyObject* const* args, size_t nargs,
                                  PyObject* names) {
      const Py_ssize_t n = PyVectorcall_NARGS(nargs);
      PyObject* level = zero_level_for(f, args, n + (names ? PyTuple_GET_SIZE(names) : 0));
      if (level != nullptr) return zero_call_batched(f, level, args, n, names);
      const zero_Span span(f, args, n);
      return zero_guarded<K>(f, args, nargs, names);
    }
    static constexpr vectorcallfunc zero_watches[] = ZERO_GUARDS(zero_watched);

    // Functions with *args have no entry: they take a tuple and a dict.
    static PyObject* zero_watched_call(PyObject* f, PyObject* const* args, size_t nargs,
                                       PyObject* names) {
      const Py_ssize_t n = PyVectorcall_NARGS(nargs);
      PyObject* level = zero_level_for(f, args, n + (names ? PyTuple_GET_SIZE(names) : 0));
      if (level != nullptr) return zero_call_batched(f, level, args, n, names);
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

    // A place that holds one pointer while nobody watches and another while someone does.
    struct zero_Switch {
      void** place;
      void *off, *on;
    };
    static std::vector<zero_Switch>& zero_switches() {
      static auto* switches = new std::vector<zero_Switch>;
      return *switches;
    }
    static void zero_add_function(PyObject* f) {
      vectorcallfunc* entry = zero_entry_of(f);
      if (entry == nullptr) return;
      void** place = reinterpret_cast<void**>(entry);
      if (*entry == nullptr) {
        const int kind = reinterpret_cast<PyCFunctionObject*>(f)->m_ml->ml_flags;
        if (kind == (METH_VARARGS | METH_KEYWORDS))
          zero_switches().push_back({place, nullptr, reinterpret_cast<void*>(zero_watched_call)});
        return;
      }
      for (int k = 0; k < zero_max_entries; ++k)
        if (*entry == zero_guards[k])
          zero_switches().push_back({place, *place, reinterpret_cast<void*>(zero_watches[k])});
    }

    // ---- Python's operators: the slot, the profiler's name and that of the module operator ----
    // clang-format off
    #define ZERO_SLOTS(S)                                                                       \\
      S(number, nb_add, "add", "add") S(number, nb_subtract, "sub", "sub")                      \\
      S(number, nb_multiply, "mul", "mul") S(number, nb_true_divide, "div", "truediv")          \\
      S(number, nb_floor_divide, "floor_divide", "floordiv")                                    \\
      S(number, nb_remainder, "remainder", "mod") S(number, nb_power, "pow", "pow")             \\
      S(number, nb_matrix_multiply, "matmul", "matmul") S(number, nb_negative, "neg", "neg")    \\
      S(number, nb_absolute, "abs", "abs") S(number, nb_invert, "bitwise_not", "invert")        \\
      S(number, nb_and, "bitwise_and", "and_") S(number, nb_or, "bitwise_or", "or_")            \\
      S(number, nb_xor, "bitwise_xor", "xor")                                                   \\
      S(number, nb_lshift, "bitwise_left_shift", "lshift")                                      \\
      S(number, nb_rshift, "bitwise_right_shift", "rshift")                                     \\
      S(number, nb_inplace_add, "add_", "iadd") S(number, nb_inplace_subtract, "sub_", "isub")  \\
      S(number, nb_inplace_multiply, "mul_", "imul")                                            \\
      S(number, nb_inplace_power, "pow_", "ipow")                                               \\
      S(number, nb_inplace_true_divide, "div_", "itruediv")                                     \\
      S(number, nb_inplace_floor_divide, "floor_divide_", "ifloordiv")                          \\
      S(number, nb_inplace_remainder, "remainder_", "imod")                                     \\
      S(number, nb_inplace_and, "bitwise_and_", "iand")                                         \\
      S(number, nb_inplace_or, "bitwise_or_", "ior")                                            \\
      S(number, nb_inplace_xor, "bitwise_xor_", "ixor")                                         \\
      S(number, nb_inplace_lshift, "bitwise_left_shift_", "ilshift")                            \\
      S(number, nb_inplace_rshift, "bitwise_right_shift_", "irshift")                           \\
      S(mapping, mp_subscript, "getitem", "getitem")                                            \\
      S(mapping, mp_ass_subscript, "setitem", "setitem")
    // clang-format on
    enum zero_SlotNumber {
    #define S(table, field, name, function) zero_at_##field,
      ZERO_SLOTS(S)
    #undef S
      zero_slot_count
    };
    static PyObject* zero_slot_names[zero_slot_count];
    static PyObject* zero_slot_functions[zero_slot_count];
    static PyObject* zero_compare_names[6];
    static PyObject* zero_compare_functions[6];
    static void* zero_slots[zero_slot_count];  // Tensor's own
    static richcmpfunc zero_compare;

    static void zero_take(PyObject* result, PyObject** to) { *to = result; }
    static void zero_take(PyObject* result, int* to) {
      *to = result == nullptr ? -1 : 0;
      Py_XDECREF(result);
    }
    template <int I, class F>
    struct zero_WatchedSlot;
    template <int I, class R, class... A>
    struct zero_WatchedSlot<I, R (*)(A...)> {
      static R call(A... args) {
        constexpr int few = 2 < sizeof...(A) ? 2 : sizeof...(A);  // without a modulo
        PyObject* const objects[] = {args...};
        if (zero_vmaps > 0 && objects[sizeof...(A) - 1] != nullptr) {  // null: del x[i]
          constexpr int n = I == zero_at_mp_ass_subscript ? 3 : few;
          PyObject* level = zero_level_for(nullptr, objects, n);
          R result;
          if (level != nullptr) {
            zero_take(zero_call_batched(zero_slot_functions[I], level, objects, n, nullptr),
                      &result);
            return result;
          }
        }
        const zero_Span span(zero_slot_names[I], objects, few);
        return reinterpret_cast<R (*)(A...)>(zero_slots[I])(args...);
      }
    };
    static PyObject* zero_watched_compare(PyObject* a, PyObject* b, int op) {
      PyObject* const objects[] = {a, b};
      PyObject* level = zero_level_for(nullptr, objects, 2);
      if (level != nullptr)
        return zero_call_batched(zero_compare_functions[op], level, objects, 2, nullptr);
      const zero_Span span(zero_compare_names[op], objects, 2);
      return zero_compare(a, b, op);
    }

    template <int I, class F>
    static void zero_set_slot(F* slot, bool on) {
      const F watched = zero_WatchedSlot<I, F>::call;
      const F own = reinterpret_cast<F>(zero_slots[I]);
      if (own != nullptr && *slot == (on ? own : watched)) *slot = on ? watched : own;
    }
    static void zero_set_compare(richcmpfunc* slot, bool on) {
      if (*slot == (on ? zero_compare : zero_watched_compare))
        *slot = on ? zero_watched_compare : zero_compare;
    }
    static void zero_take_slots(PyObject* o, PyObject* operators) {
      auto* tensor = reinterpret_cast<PyTypeObject*>(o);
      zero_compare = tensor->tp_richcompare;
      const char* const names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
      for (int i = 0; i < 6; ++i) {
        zero_compare_names[i] = PyUnicode_InternFromString(names[i]);
        zero_compare_functions[i] = PyObject_GetAttrString(operators, names[i]);
      }
    #define S(table, field, name, function)                                                  \\
      zero_slots[zero_at_##field] = reinterpret_cast<void*>(tensor->tp_as_##table->field);   \\
      zero_slot_names[zero_at_##field] = PyUnicode_InternFromString(name);                   \\
      zero_slot_functions[zero_at_##field] = PyObject_GetAttrString(operators, function);
      ZERO_SLOTS(S)
    #undef S
    }
    // Of Tensor and of its subclasses, which have copies of its slots.
    static void zero_set_slots(PyObject* o, bool on) {
      auto* type = reinterpret_cast<PyTypeObject*>(o);
    #define S(table, field, name, function)                                                  \\
      if (type->tp_as_##table != nullptr)                                                    \\
        zero_set_slot<zero_at_##field>(&type->tp_as_##table->field, on);
      ZERO_SLOTS(S)
    #undef S
      zero_set_compare(&type->tp_richcompare, on);
    }
    // Tensor.__add__ and its like, which the slots of some subclasses look up.
    static void zero_add_method(PyObject* o) {
      if (!Py_IS_TYPE(o, &PyWrapperDescr_Type)) return;
      void** place = &reinterpret_cast<PyWrapperDescrObject*>(o)->d_wrapped;
      void* const own = *place;
      if (own == reinterpret_cast<void*>(zero_compare)) {
        zero_switches().push_back({place, own, reinterpret_cast<void*>(zero_watched_compare)});
        return;
      }
    #define S(table, field, name, function)                                                  \\
      using zero_##field = decltype(static_cast<PyTypeObject*>(nullptr)->tp_as_##table->field); \\
      if (own != nullptr && own == zero_slots[zero_at_##field]) {                            \\
        const auto on = zero_WatchedSlot<zero_at_##field, zero_##field>::call;               \\
        zero_switches().push_back({place, own, reinterpret_cast<void*>(on)});                \\
        return;                                                                              \\
      }
      ZERO_SLOTS(S)
    #undef S
    }
    static void zero_switch_all(bool on) {
      for (const zero_Switch& s : zero_switches())
        if (*s.place == (on ? s.off : s.on)) *s.place = on ? s.on : s.off;
    }

    // A class of Python's would look Tensor's operators up by name, past their slots; this one gets
    // the slots themselves.
    static bool zero_set_batching(PyObject* type, PyObject* tensor, PyObject* physical,
                                  PyObject* level) {
      if (!Py_IS_TYPE(physical, &PyMemberDescr_Type) || !Py_IS_TYPE(level, &PyMemberDescr_Type))
        return false;
      zero_batched_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
      const auto* from = reinterpret_cast<PyTypeObject*>(tensor);
    #define S(table, field, name, function) \\
      zero_batched_type->tp_as_##table->field = from->tp_as_##table->field;
      ZERO_SLOTS(S)
    #undef S
      zero_batched_type->tp_richcompare = from->tp_richcompare;
      zero_physical_at = zero_member_at(physical);
      zero_level_at = zero_member_at(level);
      return true;
    }
    static PyObject* zero_all_values(PyObject* x) {
      while (Py_IS_TYPE(x, zero_batched_type)) x = *zero_member(x, zero_physical_at);
      return Py_NewRef(x);
    }
    static void zero_add_draw(PyObject* f) { zero_draws().insert(Py_NewRef(f)); }

    // Whether leaves other than `inputs` have a part in the outputs.
    static bool zero_reaches_others(const zero::Tensors& outputs, const zero::Tensors& inputs) {
      std::unordered_set<zero::Node*> met;
      std::vector<zero::Node*> left;
      for (const zero::Tensor& x : inputs) met.insert(zero::gradient_edge(x).node.get());
      for (const zero::Tensor& y : outputs) left.push_back(zero::gradient_edge(y).node.get());
      while (!left.empty()) {
        zero::Node* node = left.back();
        left.pop_back();
        if (node == nullptr || !met.insert(node).second) continue;
        if (node->leaf() != nullptr) return true;
        for (const zero::Edge& edge : node->next_) left.push_back(edge.node.get());
      }
      return false;
    }
    """
    void add_function "zero_add_function"(object function) noexcept
    void add_method "zero_add_method"(object method) noexcept
    void take_slots "zero_take_slots"(object tensor, object operators) noexcept
    void set_slots "zero_set_slots"(object type, bint on) noexcept
    void switch_all "zero_switch_all"(bint on) noexcept
    bint set_batching "zero_set_batching"(object type, object tensor, object physical,
                                          object level) noexcept
    object all_values "zero_all_values"(object x)
    void add_draw "zero_add_draw"(object function) noexcept
    void set_members "zero_set_members"(object x, object physical, object level) noexcept
    bint reaches_others "zero_reaches_others"(const CTensors& outputs,
                                              const CTensors& inputs) except +raise_error
    object (*call_hook "zero_call_batched")(PyObject*, PyObject*, PyObject* const*, Py_ssize_t,
                                            PyObject*)
    int (*depth_hook "zero_depth_of")(PyObject*) noexcept
    PyObject* current_level "zero_level"
    int vmaps_running "zero_vmaps"
    PyObject* batched_type "zero_batched_type"


# Functions that compute nothing: those called is_…, get_…, set_… and register_…, and these.
cdef set queries = set("""
    _all_values _anomaly _attach _attention_backends _autocast_cache _autocast_nesting
    _autocast_state _batched _become _enter_vmap _leave_vmap _reaches_others _set_batching
    _vmap_level _call_module _current_pass _decorated _fused_sdp_choice _gradient_edge
    _increment_version _is_view _last_sequence_nr _pass_is_partial _pass_reaches
    _pop_saved_tensors_hooks _profile_begin _profile_end _profile_events _profile_start
    _profile_stop _push_saved_tensors_hooks _quick_slots _repr_html_ _saved_tensors_hooks_disabled
    _set_anomaly _set_attention_backends _set_autocast_state _stand_in can_cast data_ptr dim
    element_size empty_cache initial_seed manual_seed memory_stats ndimension nelement numel
    promote_types requires_grad_ reset_peak_memory_stats result_type retain_grad seed show_config
    size storage storage_offset stride untyped_storage
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


cdef int watch(bint on) except -1:
    """Begins or ends the watch of all operators; nothing where it is on, or still needed."""
    cdef object type_
    cdef list types = [Tensor]
    global operators
    if operators is None:
        import operator
        operators = operators_of(globals())
        take_slots(Tensor, operator)
        for function in operators:
            add_function(function)
        for method in Tensor.__dict__.values():
            add_method(method)
    if not on and (profiles.profiling or vmaps_running > 0):
        return 0
    switch_all(on)
    for type_ in types:  # grows
        set_slots(type_, on)
        types.extend(type.__subclasses__(type_))
    return 0


# ---- vmap ----------------------------------------------------------------------------------------
@cython.auto_pickle(False)
cdef class _Level:
    """A vmap that runs: the batch dimension that its tensors have."""

    cdef readonly object size        # of the batch
    cdef readonly object randomness  # "error", "different" or "same"
    cdef readonly object outer       # the level around it on this thread, or None
    cdef readonly int depth          # 1 for the outermost
    cdef readonly bint alive


cdef object batching_rule = None


cdef int depth_of(PyObject* level) noexcept:
    return (<_Level> level).depth


cdef PyObject* outside(_Level level) noexcept:
    if level.outer is None:
        return NULL
    return <PyObject*> level.outer


cdef object call_batched(PyObject* f, PyObject* level, PyObject* const* args, Py_ssize_t n,
                         PyObject* names):
    """Calls the rule for a function, outside of the level that it is for."""
    cdef _Level inner = <_Level> level
    cdef PyObject* before = current_level
    cdef Py_ssize_t i
    cdef dict named = {}
    global current_level
    if not inner.alive:
        raise RuntimeError("vmap: a tensor of a call that has ended; got one in "
                           f"{(<object> f).__name__}, expected tensors of calls that run: what "
                           "leaves the function that vmap was given must be returned by it")
    given = tuple([<object> args[i] for i in range(n)])
    if names is not NULL:
        for i, name in enumerate(<tuple> names):
            named[name] = <object> args[n + i]
    current_level = outside(inner)
    try:
        return batching_rule(<object> f, given, named, inner)
    finally:
        current_level = before


def _set_batching(batched, rule, draws):
    """What vmap is made of.

    Args:
        batched: the class of batched tensors, with the slots `physical` and `level`.
        rule: gets a function, its arguments as a tuple and a dict, and the level.
        draws: the functions that draw random numbers.
    """
    global batching_rule
    if not (isinstance(batched, type) and issubclass(batched, Tensor)
            and set_batching(batched, Tensor, getattr(batched, "physical", None),
                             getattr(batched, "level", None))):
        raise TypeError(f"_set_batching: no class of batched tensors; got {short_repr(batched)}, "
                        "expected a subclass of Tensor with the slots 'physical' and 'level'")
    batching_rule = rule
    for function in draws:
        add_draw(function)


def _vmap_level():
    """The innermost vmap that runs on this thread, or None."""
    return None if current_level is NULL else <object> current_level


def _enter_vmap(size, randomness):
    """Begins a level on this thread. It must be kept until it is left.

    Args:
        size: of the batch.
        randomness: "error", "different" or "same".
    """
    global current_level, vmaps_running
    cdef _Level level = _Level()
    level.outer = None if current_level is NULL else <object> current_level
    level.depth = 1 if current_level is NULL else (<_Level> current_level).depth + 1
    level.size, level.randomness, level.alive = size, randomness, True
    vmaps_running += 1
    if vmaps_running == 1:
        watch(True)
    current_level = <PyObject*> level
    return level


def _leave_vmap(_Level level not None):
    """Ends a level, the innermost of this thread."""
    global current_level, vmaps_running
    level.alive = False
    current_level = outside(level)
    vmaps_running -= 1
    if vmaps_running == 0:
        watch(False)


def _batched(Tensor physical not None, _Level level not None):
    """The tensor of one sample that stands for a batch of them.

    To C++ it is one without memory, so that nothing reads numbers of a sample by mistake.

    Args:
        physical: the batch, along its first dimension.
        level: of the vmap that it belongs to.
    """
    cdef CDims sizes
    cdef CTensorOptions options
    cdef Tensor result
    cdef int64_t i
    for i in range(1, physical.c.dim()):
        sizes.push_back(physical.c.size(i))
    options.dtype = physical.c.dtype()
    options.device = CDevice.Meta
    result = <Tensor> allocate_wrapper(<object> batched_type)
    set_members(result, physical, level)
    result.c.hold(core.empty(sizes, options), result)
    return result


def _all_values(x):
    """What to check the values of: under vmap those of all samples, else x itself."""
    return all_values(x)


def _reaches_others(outputs, inputs):
    """Whether gradients of the outputs go to leaves that are not among the inputs.

    Args:
        outputs: tensors.
        inputs: leaves.
    """
    return reaches_others(tensors_of(outputs, "grad", "outputs", False),
                          tensors_of(inputs, "grad", "inputs", False)) != 0


call_hook = call_batched
depth_hook = depth_of
