"""The statements that dagpost knows, in the order in which messages list them.

A statement is one file in `statements/` and one line here. Another package adds its own with the entry point
`dagpost.statements`, or by defining it: a subclass of `Feature` with a `name` registers itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost._tools.registry import Registry

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

STATEMENTS: Registry[Feature] = Registry(
    "statement",
    "dagpost.statements",
    [
        "dagpost.features.statements.edge:Edge",
        "dagpost.features.statements.path:Path",
        "dagpost.features.statements.path_in_time:PathInTime",
        "dagpost.features.statements.adjacent:Adjacent",
        "dagpost.features.statements.v_structure:VStructure",
        "dagpost.features.statements.compelled:CompelledEdge",
        "dagpost.features.statements.node_sets:ParentSet",
        "dagpost.features.statements.node_sets:AncestorSet",
        "dagpost.features.statements.node_sets:DescendantSet",
        "dagpost.features.statements.markov_blanket:InMarkovBlanket",
        "dagpost.features.statements.d_separation:DSeparated",
        "dagpost.features.statements.topological_position:TopologicalPosition",
        "dagpost.features.statements.custom:Custom",
    ],
)
