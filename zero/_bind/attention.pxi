# Attention. The function that users call is in zero/nn/_attention.py, the choice of its engine in
# zero/nn/attention.py.

cdef attentions.CAttentionOptions attention_options(object dropout_p, object is_causal,
                                                    object scale, object enable_gqa) except *:
    cdef attentions.CAttentionOptions options
    cdef str op = "scaled_dot_product_attention"
    options.dropout = as_float(dropout_p, op, "dropout_p")
    options.causal = flag_of(is_causal, op, "is_causal")
    if scale is not None:
        options.scale = as_float(scale, op, "scale")
    options.grouped = flag_of(enable_gqa, op, "enable_gqa")
    return options


cdef int attention_tensors(object query, object key, object value, object mask) except -1:
    for x, name in ((query, "query"), (key, "key"), (value, "value"), (mask, "attn_mask")):
        if not isinstance(x, Tensor) and (x is not None or name != "attn_mask"):
            raise TypeError(f"scaled_dot_product_attention: {name} is not a Tensor; got "
                            f"{type_name(x)}, expected a Tensor")
    return 0


def _scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
                                  enable_gqa):
    """scaled_dot_product_attention of zero.nn.functional."""
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)
            and (attn_mask is None or isinstance(attn_mask, Tensor))):
        attention_tensors(query, key, value, attn_mask)
    return wrap(attentions.scaled_dot_product_attention(
        (<Tensor> query).c, (<Tensor> key).c, (<Tensor> value).c,
        given_or_none(<Tensor> attn_mask)[0],
        attention_options(dropout_p, is_causal, scale, enable_gqa)))


def _fused_sdp_choice(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *,
                      scale=None, enable_gqa=False):
    """The number of the engine that such a call takes; -1 if none that is allowed can serve it."""
    attention_tensors(query, key, value, attn_mask)
    return <int> attentions.attention_backend(
        (<Tensor> query).c, (<Tensor> key).c, (<Tensor> value).c,
        given_or_none(<Tensor> attn_mask)[0],
        attention_options(dropout_p, is_causal, scale, enable_gqa))


def _attention_backends():
    """The numbers of the engines that attention may take, the first that can serve."""
    cdef attentions.CAttentionBackends allowed = attentions.attention_backends()
    cdef int64_t i
    return [<int> allowed[i] for i in range(allowed.size())]


def _set_attention_backends(numbers):
    """Sets that list."""
    cdef attentions.CAttentionBackends allowed
    for number in numbers:
        allowed.push_back(<CAttentionBackend> <int> number)
    attentions.set_attention_backends(allowed)
