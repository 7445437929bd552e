from libc.stdint cimport int64_t, uint64_t

cdef extern from "zero/autograd/node.h" namespace "zero":
    cdef cppclass NodeRef "zero::Ref<zero::Node>":
        NodeRef() noexcept
        CNode* get() noexcept

    cdef cppclass CEdge "zero::Edge":
        NodeRef node
        int output_nr

    cdef cppclass CEdges "decltype(zero::Node::next_)":
        int64_t size() noexcept
        CEdge& operator[](int64_t i) noexcept

    cdef cppclass CNode "zero::Node":
        const char* name() noexcept
        uint64_t sequence_nr() noexcept
        CEdges next_
