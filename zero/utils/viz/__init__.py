"""Pictures of what autograd recorded."""

from __future__ import annotations

from zero.utils.viz.autograd_graph import Edge, Graph, Vertex, graph

__all__ = ["Edge", "Graph", "Vertex", "graph"]
