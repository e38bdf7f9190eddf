"""Sums over all orders and all graphs, without sampling."""
