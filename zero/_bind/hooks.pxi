# Hooks on tensors, nodes and saved tensors, and what Python's garbage collector sees of a graph.
#
# A set of hooks is a dict of Python's, owned by the C++ node. The collector meets it by way of the
# tensor (or node) that alone keeps the graph: that reports what zero::foreign_objects finds.
cdef extern from *:
    """
    #include "zero/autograd/anomaly.h"
    #include "zero/autograd/hooks.h"

    // A reference that the core holds to a Python object.
    template <class Base>
    struct zero_PyForeign : Base {
      explicit zero_PyForeign(PyObject* object) : object_(object) { Py_INCREF(object); }
      ~zero_PyForeign() override { clear(); }
      void* object() const override { return object_; }
      void clear() override {
        PyObject* object = std::exchange(object_, nullptr);
        if (object == nullptr || !Py_IsInitialized()) return;
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(object);
        PyGILState_Release(state);
      }
      PyObject* object_;
    };

    // Set below. Each returns -1 with an exception set, or 0.
    static int (*zero_call_tensor_hooks)(PyObject* hooks, zero::Tensor& grad);
    static int (*zero_call_leaf_hooks)(PyObject* hooks, zero::Tensor& leaf);
    static int (*zero_call_pre_hooks)(PyObject* hooks, zero::Grads& grads);
    static int (*zero_call_post_hooks)(PyObject* hooks, zero::Grads& grads,
                                       const zero::Grads& outputs);
    static PyObject* (*zero_call_pack)(PyObject* pair, const zero::Tensor& x);
    static int (*zero_call_unpack)(PyObject* packed, zero::Tensor& result);

    static void zero_check(int status) {
      if (status < 0) throw ZeroPythonError::fetch();
    }

    struct zero_TensorHooks final : zero_PyForeign<zero::TensorHook> {
      using zero_PyForeign::zero_PyForeign;
      void call(zero::Tensor& grad) override {
        if (object_) zero_check(zero_call_tensor_hooks(object_, grad));
      }
    };
    struct zero_LeafHooks final : zero_PyForeign<zero::TensorHook> {
      using zero_PyForeign::zero_PyForeign;
      void call(zero::Tensor& leaf) override {
        if (object_) zero_check(zero_call_leaf_hooks(object_, leaf));
      }
    };
    struct zero_NodeHooks final : zero_PyForeign<zero::NodeHook> {
      using zero_PyForeign::zero_PyForeign;
      void call(zero::Grads& grads, const zero::Grads* outputs) override {
        if (object_ == nullptr) return;
        zero_check(outputs ? zero_call_post_hooks(object_, grads, *outputs)
                           : zero_call_pre_hooks(object_, grads));
      }
    };
    struct zero_Packed final : zero_PyForeign<zero::PackedTensor> {  // (unpack hook, object)
      using zero_PyForeign::zero_PyForeign;
      zero::Tensor unpack() override {
        zero::Tensor result;
        ZERO_CHECK(object_, Error, "backward: a packed tensor was freed by the garbage "
                   "collector; got a graph that is being deleted, expected one in use");
        zero_check(zero_call_unpack(object_, result));
        return result;
      }
    };
    struct zero_PackHooks final : zero::SavedTensorHooks {  // (pack hook, unpack hook)
      explicit zero_PackHooks(PyObject* pair) : pair_(pair) {}
      zero::Ref<zero::PackedTensor> pack(const zero::Tensor& x) override {
        PyObject* packed = zero_call_pack(pair_.object_, x);
        if (packed == nullptr) throw ZeroPythonError::fetch();
        auto result = zero::make_ref<zero_Packed>(packed);
        Py_DECREF(packed);
        return result;
      }
      zero_PyForeign<zero::Foreign> pair_;
    };

    template <class T, class Slot>
    static PyObject* zero_hooks_in(Slot& slot, PyObject* fresh) {
      if (!slot || slot->object() == nullptr) {
        if (fresh == nullptr) Py_RETURN_NONE;
        slot = zero::make_ref<T>(fresh);
      }
      PyObject* hooks = static_cast<PyObject*>(slot->object());
      Py_INCREF(hooks);
      return hooks;
    }
    // The dict of a kind of hooks; `fresh` becomes it if there is none. With null: None then.
    enum zero_HookKind { zero_pre, zero_post, zero_leaf, zero_metadata };
    static PyObject* zero_node_hooks(zero::Node& node, zero_HookKind kind, PyObject* fresh) {
      if (fresh == nullptr && node.extras() == nullptr) Py_RETURN_NONE;
      zero::NodeExtras& extras = node.make_extras();
      switch (kind) {
        case zero_pre: return zero_hooks_in<zero_NodeHooks>(extras.pre_hooks, fresh);
        case zero_post: return zero_hooks_in<zero_NodeHooks>(extras.post_hooks, fresh);
        case zero_leaf: return zero_hooks_in<zero_LeafHooks>(extras.accumulated, fresh);
        default: return zero_hooks_in<zero_PyForeign<zero::Foreign>>(extras.metadata, fresh);
      }
    }
    static PyObject* zero_tensor_hooks(const zero::Edge& edge, PyObject* fresh) {
      if (!edge.node || (fresh == nullptr && edge.node->extras() == nullptr)) Py_RETURN_NONE;
      auto& all = edge.node->make_extras().tensor_hooks;
      if (all.size() <= edge.output_nr) all.resize(edge.output_nr + 1);
      return zero_hooks_in<zero_TensorHooks>(all[edge.output_nr], fresh);
    }
    static PyObject* (*zero_describe_call)();         // (trace, line, module), or null
    static int (*zero_warn)(const std::string& text);
    static std::string zero_text_of(PyObject* tuple, int i) {
      const char* text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i));
      return text ? text : "";
    }
    static void zero_describe(zero::CallSite& site) {
      PyObject* texts = zero_describe_call();
      if (texts == nullptr) throw ZeroPythonError::fetch();
      site.trace = zero_text_of(texts, 0);
      site.line = zero_text_of(texts, 1);
      site.module = zero_text_of(texts, 2);
      Py_DECREF(texts);
    }
    static void zero_warn_of(const std::string& text) { zero_check(zero_warn(text)); }
    static void zero_set_anomaly(bool on, bool check_nan) {
      zero::set_anomaly_hook({zero_describe, zero_warn_of});
      zero::anomaly_enabled = on;
      zero::anomaly_checks_nan = check_nan;
    }
    static bool zero_anomaly_on() { return zero::anomaly_enabled; }
    static bool zero_anomaly_checks_nan() { return zero::anomaly_checks_nan; }

    static void zero_push_pack_hooks(PyObject* pair) {
      zero::push_saved_tensor_hooks(zero::make_ref<zero_PackHooks>(pair));
    }

    static int zero_visit(const zero::SmallVector<zero::Foreign*, 4>& found, visitproc visit,
                          void* arg) {
      for (zero::Foreign* f : found)
        if (int status = visit(static_cast<PyObject*>(f->object()), arg)) return status;
      return 0;
    }
    static int zero_visit_tensor(const zero::Tensor& x, visitproc visit, void* arg) {
      return zero::Foreign::live() ? zero_visit(zero::foreign_objects(x), visit, arg) : 0;
    }
    static int zero_visit_node(zero::Node& node, visitproc visit, void* arg) {
      return zero::Foreign::live() ? zero_visit(zero::foreign_objects(node), visit, arg) : 0;
    }
    static void zero_clear(const zero::SmallVector<zero::Foreign*, 4>& found) {
      zero::SmallVector<zero::Ref<zero::Foreign>, 4> held;  // clearing one may free another
      for (zero::Foreign* f : found) held.push_back(zero::Ref<zero::Foreign>::share(f));
      for (auto& f : held) f->clear();
    }
    static void zero_clear_tensor(const zero::Tensor& x) { zero_clear(zero::foreign_objects(x)); }
    static void zero_clear_node(zero::Node& node) { zero_clear(zero::foreign_objects(node)); }

    // Adds to what the collector does for a type.
    static void zero_set_collection(PyObject* type, traverseproc traverse, inquiry clear) {
      auto* t = reinterpret_cast<PyTypeObject*>(type);
      t->tp_traverse = traverse;
      t->tp_clear = clear;
    }
    static traverseproc zero_traverse_of(PyObject* type) {
      return reinterpret_cast<PyTypeObject*>(type)->tp_traverse;
    }
    static inquiry zero_clear_of(PyObject* type) {
      return reinterpret_cast<PyTypeObject*>(type)->tp_clear;
    }
    static PyObject* zero_node_wrapper(zero::Node& node) {
      return node.extras() ? static_cast<PyObject*>(node.extras()->wrapper.load()) : nullptr;
    }
    static void zero_set_node_wrapper(zero::Node& node, PyObject* wrapper) {
      node.make_extras().wrapper.store(wrapper);
    }
    """
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    enum HookKind "zero_HookKind":
        PRE_HOOKS "zero_pre"
        POST_HOOKS "zero_post"
        LEAF_HOOKS "zero_leaf"
        METADATA "zero_metadata"
    object node_hooks "zero_node_hooks"(CNode& node, HookKind kind, PyObject* fresh)
    object tensor_hooks "zero_tensor_hooks"(const CEdge& edge, PyObject* fresh)
    void push_pack_hooks "zero_push_pack_hooks"(object pair) except +raise_error
    int visit_tensor "zero_visit_tensor"(const CTensor& x, visitproc visit, void* arg) noexcept
    int visit_node "zero_visit_node"(CNode& node, visitproc visit, void* arg) noexcept
    void clear_tensor "zero_clear_tensor"(const CTensor& x) noexcept
    void clear_node "zero_clear_node"(CNode& node) noexcept
    void set_collection "zero_set_collection"(object type, traverseproc traverse,
                                              inquiry clear) noexcept
    traverseproc traverse_of "zero_traverse_of"(object type) noexcept
    inquiry clear_of "zero_clear_of"(object type) noexcept
    PyObject* node_wrapper "zero_node_wrapper"(CNode& node) noexcept
    void set_node_wrapper "zero_set_node_wrapper"(CNode& node, PyObject* wrapper) noexcept
    void set_anomaly "zero_set_anomaly"(bint on, bint check_nan) noexcept
    bint anomaly_on "zero_anomaly_on"() noexcept
    bint anomaly_checks_nan "zero_anomaly_checks_nan"() noexcept
    PyObject* (*describe_hook "zero_describe_call")() except NULL
    int (*warn_hook "zero_warn")(const string& text) except -1
    int (*tensor_hooks_call "zero_call_tensor_hooks")(PyObject*, CTensor&) except -1
    int (*leaf_hooks_call "zero_call_leaf_hooks")(PyObject*, CTensor&) except -1
    int (*pre_hooks_call "zero_call_pre_hooks")(PyObject*, CTensors&) except -1
    int (*post_hooks_call "zero_call_post_hooks")(PyObject*, CTensors&, const CTensors&) except -1
    PyObject* (*pack_call "zero_call_pack")(PyObject*, const CTensor&) except NULL
    int (*unpack_call "zero_call_unpack")(PyObject*, CTensor&) except -1


# ---- the collector -------------------------------------------------------------------------------
cdef traverseproc tensor_traverse = traverse_of(Tensor)
cdef inquiry tensor_clear = clear_of(Tensor)
cdef traverseproc node_traverse = traverse_of(Node)
cdef inquiry node_clear = clear_of(Node)


cdef int traverse_tensor(PyObject* self, visitproc visit, void* arg) noexcept:
    cdef int status = tensor_traverse(self, visit, arg) if tensor_traverse is not NULL else 0
    return status if status else visit_tensor((<Tensor> self).c, visit, arg)


cdef int clear_tensor_object(PyObject* self) noexcept:
    clear_tensor((<Tensor> self).c)
    return tensor_clear(self) if tensor_clear is not NULL else 0


cdef int traverse_node(PyObject* self, visitproc visit, void* arg) noexcept:
    cdef int status = node_traverse(self, visit, arg) if node_traverse is not NULL else 0
    if status or (<Node> self).owned.get() is NULL:
        return status
    return visit_node((<Node> self).node[0], visit, arg)


cdef int clear_node_object(PyObject* self) noexcept:
    if (<Node> self).owned.get() is not NULL:
        clear_node((<Node> self).node[0])
    return node_clear(self) if node_clear is not NULL else 0


set_collection(Tensor, traverse_tensor, clear_tensor_object)
set_collection(Node, traverse_node, clear_node_object)


# ---- registration --------------------------------------------------------------------------------
cdef object add_hook(object hooks, object function, str op):
    if not callable(function):
        raise TypeError(f"{op}: the hook can't be called; got {type_name(function)}, expected a "
                        "function")
    from zero.utils.hooks import RemovableHandle
    handle = RemovableHandle(hooks)
    hooks[handle.id] = function
    return handle


cdef object add_node_hook(Node node, HookKind kind, object function, str op):
    from collections import OrderedDict
    fresh = OrderedDict()
    return add_hook(node_hooks(node_of(node)[0], kind, <PyObject*> fresh), function, op)


# ---- calls ---------------------------------------------------------------------------------------
cdef str hook_name(object function):
    return getattr(function, "__name__", type_name(function))


cdef int check_replacement(CTensor& before, object after, object function) except -1:
    """What a hook returned in place of a gradient."""
    cdef CTensor new
    if not isinstance(after, Tensor):
        raise TypeError(f"{hook_name(function)}: the hook returned no tensor; got "
                        f"{type_name(after)}, expected a Tensor or None")
    new = (<Tensor> after).c
    if not before.defined():
        raise RuntimeError(f"{hook_name(function)}: the hook replaced a missing gradient; got a "
                           "Tensor, expected None")
    if not new.sizes() == before.sizes():
        raise ShapeError(f"{hook_name(function)}: the hook has changed the size of the gradient; "
                         f"got {tuple_of(new.sizes())}, expected {tuple_of(before.sizes())}")
    if new.dtype() != before.dtype():
        raise DTypeError(f"{hook_name(function)}: the hook has changed the dtype of the gradient; "
                         f"got {dtype_object(new.dtype())!r}, expected "
                         f"{dtype_object(before.dtype())!r}")
    if new.device() != before.device():
        raise RuntimeError(f"{hook_name(function)}: the hook has changed the device of the "
                           f"gradient; got {device_object(new.device())!r}, expected "
                           f"{device_object(before.device())!r}")
    return 0


cdef int call_tensor_hooks(PyObject* hooks, CTensor& grad) except -1:
    cdef object result
    for function in list((<object> hooks).values()):
        result = function(wrap_optional(grad))
        if result is not None:
            check_replacement(grad, result, function)
            (&grad)[0] = (<Tensor> result).c
    return 0


cdef int call_leaf_hooks(PyObject* hooks, CTensor& leaf) except -1:
    cdef object result
    for function in list((<object> hooks).values()):
        result = function(wrap(leaf))
        if result is not None:
            raise TypeError(f"{hook_name(function)}: a hook after the accumulation returned "
                            f"something; got {type_name(result)}, expected None")
    return 0


cdef int replace_grads(CTensors& grads, object result, object function) except -1:
    cdef Py_ssize_t i
    if result is None:
        return 0
    if not isinstance(result, tuple):
        result = (result,)
    if len(result) != grads.size():
        raise RuntimeError(f"{hook_name(function)}: the hook has changed the number of gradients; "
                           f"got {len(result)}, expected {grads.size()}")
    for i in range(grads.size()):
        if result[i] is None:
            grads[i] = CTensor()
        else:
            check_replacement(grads[i], result[i], function)
            grads[i] = (<Tensor> result[i]).c
    return 0


cdef int call_pre_hooks(PyObject* hooks, CTensors& grads) except -1:
    for function in list((<object> hooks).values()):
        replace_grads(grads, function(wrap_all(grads)), function)
    return 0


cdef int call_post_hooks(PyObject* hooks, CTensors& grads, const CTensors& outputs) except -1:
    cdef CTensors given = outputs
    for function in list((<object> hooks).values()):
        replace_grads(grads, function(wrap_all(grads), wrap_all(given)), function)
    return 0


cdef PyObject* call_pack(PyObject* pair, const CTensor& x) except NULL:
    cdef object result = ((<tuple> pair)[1], (<tuple> pair)[0](wrap(x)))
    Py_INCREF(result)
    return <PyObject*> result


cdef int call_unpack(PyObject* packed, CTensor& result) except -1:
    cdef object x = (<tuple> packed)[0]((<tuple> packed)[1])
    if not isinstance(x, Tensor):
        raise TypeError("saved_tensors_hooks: the unpack hook returned no tensor; got "
                        f"{type_name(x)}, expected a Tensor")
    (&result)[0] = (<Tensor> x).c
    return 0


tensor_hooks_call = call_tensor_hooks
leaf_hooks_call = call_leaf_hooks
pre_hooks_call = call_pre_hooks
post_hooks_call = call_post_hooks
pack_call = call_pack
unpack_call = call_unpack


# ---- saved tensors -------------------------------------------------------------------------------
cdef object disabled = None  # by thread, the text of the error; made when first needed


def _saved_tensors_hooks_disabled(text):
    """Sets the error of this thread's saved_tensors_hooks, or None; returns that of before."""
    global disabled
    if disabled is None:
        from threading import local
        disabled = local()
    before = getattr(disabled, "text", None)
    disabled.text = text
    return before


def _push_saved_tensors_hooks(pack_hook, unpack_hook):
    """Tensors saved in this thread from now on go through the pair."""
    text = getattr(disabled, "text", None)
    if text is not None:
        raise RuntimeError(text)
    for name, hook_ in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook_):
            raise TypeError(f"saved_tensors_hooks: {name} can't be called; got "
                            f"{type_name(hook_)}, expected a function")
    push_pack_hooks((pack_hook, unpack_hook))


def _pop_saved_tensors_hooks():
    """Back to the pair of before."""
    hooks_cpp.pop_saved_tensor_hooks()


def _increment_version(Tensor tensor not None):
    """Counts a write in place."""
    inplace.count_write(tensor.c)


# ---- anomaly mode --------------------------------------------------------------------------------
cdef object describe_function = None  # () -> (trace, line, module)


def _set_anomaly(enabled, check_nan, describe):
    """Turns anomaly mode on or off; `describe` says where the program is."""
    global describe_function
    cdef bint on = flag_of(enabled, "set_anomaly", "enabled")
    cdef bint nan = flag_of(check_nan, "set_anomaly", "check_nan")
    describe_function = describe
    set_anomaly(on, nan)


def _anomaly():
    """Whether anomaly mode is on, and whether it looks for nan."""
    return anomaly_on() != 0, anomaly_checks_nan() != 0


cdef PyObject* describe_call() except NULL:
    cdef object texts = describe_function()
    Py_INCREF(texts)
    return <PyObject*> texts


cdef int warn(const string& text) except -1:
    import warnings
    try:
        warnings.warn(text.decode(errors="replace"), UserWarning, stacklevel=1)
    except UserWarning:  # where warnings are errors: the error that follows says it, too
        pass
    return 0


describe_hook = describe_call
warn_hook = warn
