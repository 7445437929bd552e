"""Pictures of what autograd recorded, and of what a training loop collected."""

from __future__ import annotations

from zero.utils.viz.autograd_graph import Edge, Graph, Vertex, graph
from zero.utils.viz.history import plot_history

__all__ = ["Edge", "Graph", "Vertex", "graph", "plot_history"]
