# zero.autograd.Function: what runs between Python's forward and backward and the graph.
cdef extern from *:
    """
    static int (*zero_call_backward)(PyObject* context, zero::Node& node, zero::Grads& grads,
                                     zero::Grads& result);
    static void (*zero_end_context)(PyObject* context);

    // A custom function's node owns its context, which knows the node by a pointer that is taken
    // back before the node ends.
    struct zero_Context final : zero_PyForeign<zero::Foreign> {
      using zero_PyForeign::zero_PyForeign;
      void owner_ends() noexcept override {
        if (object_ && Py_IsInitialized()) zero_end_context(object_);
      }
      void clear() override {
        owner_ends();
        zero_PyForeign::clear();
      }
    };

    class zero_FunctionNode final : public zero::Node {
     public:
      zero_FunctionNode(PyObject* context, const char* name) : Node(nullptr), text_(name) {
        name_ = text_.c_str();
        make_extras().context = zero::make_ref<zero_Context>(context);
      }
      zero::Grads apply(zero::Grads&& grads) override {
        const zero::Ref<zero::Foreign> context = extras()->context;
        ZERO_CHECK(context->object(), Error, "backward: the context of ", name_,
                   " was freed by the garbage collector; got a graph that is being deleted, "
                   "expected one in use");
        zero::Grads result(next_.size());
        PyObject* object = static_cast<PyObject*>(context->object());
        zero_check(zero_call_backward(object, *this, grads, result));
        return result;
      }

     private:
      std::string text_;
    };

    static PyObject* zero_function_context(zero::Node& node) {
      const zero::NodeExtras* extras = node.extras();
      PyObject* context = nullptr;
      if (extras && extras->context) context = static_cast<PyObject*>(extras->context->object());
      if (context == nullptr) Py_RETURN_NONE;
      Py_INCREF(context);
      return context;
    }
    static zero::Ref<zero::Node> zero_function_node(PyObject* context, const char* name) {
      return zero::make_ref<zero_FunctionNode>(context, name);
    }
    """
    NodeRef function_node "zero_function_node"(object context,
                                               const char* name) except +raise_error
    object function_context "zero_function_context"(CNode& node)
    int (*backward_call "zero_call_backward")(PyObject*, CNode&, CTensors&, CTensors&) except -1
    void (*end_context_call "zero_end_context")(PyObject*) noexcept


cdef class FunctionContext(Node):
    """What forward hands to backward; the grad_fn of a custom function's outputs."""

    def __cinit__(self):
        self.materialize_grads = True
        self.needs_input_grad = ()
        self.positions = self.are_tensors = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors for backward, where `saved_tensors` gives them back.

        Writes to them in between are noticed, and an output may be among them without keeping its
        own graph alive. None stays None.

        Raises:
            TypeError: an argument is neither a tensor nor None.
        """
        self.to_save = checked_tensors(tensors, "save_for_backward", True)

    def mark_dirty(self, *args):
        """Says which inputs forward has written to in place; each must also be returned."""
        self.dirty = checked_tensors(args, "mark_dirty", False)

    def mark_non_differentiable(self, *args):
        """Says which outputs have no gradient, such as indices."""
        self.constant = checked_tensors(args, "mark_non_differentiable", False)

    def set_materialize_grads(self, value):
        """Whether backward gets zeros (the default) or None for an output that no gradient came
        for."""
        self.materialize_grads = flag_of(value, "set_materialize_grads", "value")

    @property
    def saved_tensors(self):
        """The tensors of save_for_backward.

        Raises:
            RuntimeError: one of them was written to since, or a backward pass freed them.
        """
        cdef CNode* node = self.node
        cdef NodeRef kept
        cdef list result = []
        cdef int i
        if node is NULL:
            return ()
        kept = share_node(node)
        if node.released():
            node.saved(0)  # raises
        for i in range(node.saved_.size()):
            result.append(wrap_optional(node.saved(i)))
        return tuple(result)


cdef tuple checked_tensors(tuple items, str op, bint allow_none):
    cdef Py_ssize_t i
    for i, x in enumerate(items):
        if not (isinstance(x, Tensor) or (x is None and allow_none)):
            raise TypeError(f"{op}: argument {i} is not a tensor; got {type_name(x)}, expected a "
                            "Tensor" + (" or None" if allow_none else ""))
    return items


cdef CTensors tensors_in(object items) except *:
    """Those of a tuple; other things, and None, become undefined tensors."""
    cdef CTensors result
    if items is not None:
        for x in <tuple> items:
            result.push_back((<Tensor> x).c if isinstance(x, Tensor) else CTensor())
    return result


def _function_apply(cls, tuple args, dict kwargs, bint separate):
    """Function.apply. `separate`: forward has no context, setup_context fills it."""
    cdef FunctionContext ctx
    cdef CTensors inputs, outputs
    cdef NodeRef node
    cdef list needs = [], positions = []
    cdef bint recorded = False, needed, before
    cdef Py_ssize_t i = 0
    cdef object output
    cdef tuple items
    cdef bytes name
    for x in args:
        needed = False
        if isinstance(x, Tensor):
            inputs.push_back((<Tensor> x).c)
            positions.append(i)
            needed = meta.requires_grad((<Tensor> x).c)
            recorded = recorded or needed
        needs.append(needed != 0)
        i += 1
    context_class = cls._backward_cls
    ctx = <FunctionContext?> context_class.__new__(context_class)
    ctx.needs_input_grad = tuple(needs)
    ctx.positions = tuple(positions)
    name = cls.__name__.encode()
    before = grad_mode.grad_enabled()
    if recorded and grad_mode.recording():
        node = function_node(ctx, context_class.__name__.encode())
        ctx.node = node.get()
        functions.connect_function(node.get()[0], inputs)
    grad_mode.set_grad_enabled(False)
    try:
        if separate:
            output = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, output)
        else:
            output = cls.forward(ctx, *args, **kwargs)
    finally:
        grad_mode.set_grad_enabled(before)
    items = output if isinstance(output, tuple) else (output,)
    outputs = tensors_in(items)
    ctx.are_tensors = tuple([isinstance(x, Tensor) for x in items])
    functions.finish_function(name, node, inputs, outputs, tensors_in(ctx.dirty),
                              tensors_in(ctx.constant))
    if node.get() is not NULL:
        functions.save_for_function(node.get()[0], tensors_in(ctx.to_save), outputs)
    ctx.to_save = ctx.dirty = ctx.constant = None
    if not isinstance(output, tuple):
        return wrap(outputs[0]) if outputs[0].defined() else output
    return tuple([wrap(outputs[i]) if outputs[i].defined() else items[i]
                  for i in range(len(items))])


cdef int call_backward(PyObject* context, CNode& node, CTensors& grads,
                       CTensors& result) except -1:
    cdef FunctionContext ctx = <FunctionContext> context
    cdef list args = []
    cdef object function, returned
    cdef Py_ssize_t i, k, expected = len(ctx.needs_input_grad)
    cdef bint zeros = ctx.materialize_grads
    for i in range(grads.size()):
        if grads[i].defined() or not (zeros and ctx.are_tensors[i]):
            args.append(wrap_optional(grads[i]))
        else:
            args.append(zeros_of(node.outputs_[i]))
    function = backward_of(ctx)
    returned = function(ctx, *args)
    if not isinstance(returned, tuple):
        returned = (returned,)
    name = node.name().decode()
    if len(returned) > expected and all_none(returned[expected:]):
        returned = returned[:expected]
    if len(returned) != expected:
        raise RuntimeError(f"{name}: the wrong number of gradients; got {len(returned)} from "
                           f"backward, expected {expected}, one for each argument of forward")
    k = 0
    for i in range(expected):
        is_tensor = k < len(ctx.positions) and ctx.positions[k] == i
        if returned[i] is None:
            pass
        elif not isinstance(returned[i], Tensor):
            raise TypeError(f"{name}: gradient {i} is not a tensor; got {type_name(returned[i])}, "
                            "expected a Tensor or None")
        elif not is_tensor:
            raise RuntimeError(f"{name}: gradient {i} is for an argument of forward that is no "
                               "tensor; got a Tensor, expected None")
        else:
            result[k] = (<Tensor> returned[i]).c
        k += is_tensor
    return 0


cdef bint all_none(tuple items) except -1:
    for x in items:
        if x is not None:
            return False
    return True


cdef object zeros_of(OutputSpec& spec):
    cdef CTensorOptions options
    options.dtype = spec.dtype
    options.device = spec.device
    return wrap(ops.zeros(spec.sizes, options))


cdef object backward_of(FunctionContext ctx):
    """The user's backward function, which may also be called vjp."""
    cls = type(ctx)._forward_cls
    base = cls._function_base
    if cls.backward is base.backward:
        if cls.vjp is base.vjp:
            raise NotImplementedError(f"{cls.__name__}: no backward function; got only forward, "
                                      "expected a static method backward(ctx, *grad_outputs)")
        return cls.vjp
    if cls.vjp is not base.vjp:
        raise RuntimeError(f"{cls.__name__}: backward and vjp are two names for one function; got "
                           "both, expected one")
    return cls.backward


cdef void end_context(PyObject* context) noexcept:
    (<FunctionContext> context).node = NULL


backward_call = call_backward
end_context_call = end_context
