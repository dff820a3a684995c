"""Nodes, racks and domains: failures with hot spares, and how many fall into each credit band."""

from risk.cluster.failures import from_deal
from risk.cluster.nodes import NodeLawResult, NodeRates, node_law, node_rates

__all__ = ["NodeLawResult", "NodeRates", "from_deal", "node_law", "node_rates"]
