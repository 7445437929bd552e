from libc.stdint cimport int64_t, uint64_t
from cpython.object cimport PyObject
from libcpp cimport bool as cbool
from zero._cpp.device cimport CDevice
from zero._cpp.dtype cimport CDType
from zero._cpp.error cimport raise_error
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor

cdef extern from "zero/autograd/node.h" namespace "zero":
    cdef cppclass NodeRef "zero::Ref<zero::Node>":
        NodeRef() noexcept
        CNode* get() noexcept
        void reset() noexcept

    NodeRef share_node "zero::Ref<zero::Node>::share"(CNode* node) noexcept

    cdef cppclass CEdge "zero::Edge":
        NodeRef node
        int output_nr

    cdef cppclass CEdges "decltype(zero::Node::next_)":
        int64_t size() noexcept
        CEdge& operator[](int64_t i) noexcept

    cdef cppclass OutputSpec "zero::OutputSpec":
        CDims sizes
        CDType dtype
        CDevice device

    cdef cppclass OutputSpecs "decltype(zero::Node::outputs_)":
        int64_t size() noexcept
        OutputSpec& operator[](int64_t i) noexcept

    cdef cppclass SavedTensors "decltype(zero::Node::saved_)":
        int64_t size() noexcept

    cdef cppclass CNode "zero::Node":
        const char* name() noexcept
        uint64_t sequence_nr() noexcept
        cbool released() noexcept
        CTensor saved(int i) except +raise_error
        CEdges next_
        OutputSpecs outputs_
        SavedTensors saved_

    CEdge gradient_edge(const CTensor& x) except +raise_error
