# One graph: a matrix of zeros and ones, parents in the rows.

as_graph <- function(adjacency, nodes) {
  structure(matrix(as.integer(adjacency), length(nodes), length(nodes), dimnames = list(from = nodes, to = nodes)),
            class = "dagpost_graph")
}

check_graph <- function(graph) {
  if (!inherits(graph, "dagpost_graph")) {
    stop_plainly("This needs one graph, as in best_graphs(model, 1)[[1]], not ", kind_of(graph), ".")
  }
  graph
}

#' @export
print.dagpost_graph <- function(x, ...) {
  pairs <- arcs_of(x)
  cat("Graph of ", nrow(x), " nodes and ", nrow(pairs), " edges", if (nrow(pairs) > 0) ":", "\n", sep = "")
  cat(sprintf("  %s -> %s\n", pairs[, "from"], pairs[, "to"]), sep = "")
  invisible(x)
}

arcs_of <- function(graph) {
  places <- which(unclass(graph) == 1L, arr.ind = TRUE)
  nodes <- rownames(graph)
  places <- places[order(places[, 1], places[, 2]), , drop = FALSE]
  cbind(from = nodes[places[, 1]], to = nodes[places[, 2]])
}

#' A graph for other packages
#'
#' @param graph One graph, as in `best_graphs(model, 1)[[1]]`; for `as_igraph()`
#'   also a model or a sample: then all pairs with their probabilities as edge
#'   attribute, from the threshold on.
#' @param threshold Of a model or a sample: less probable edges are left out.
#' @return `as_igraph()`: a directed graph of the package igraph. `as_bn()`: a
#'   network of the package bnlearn. `model_string()`: the text that
#'   `bnlearn::model2network()` reads, such as `"[A][B|A]"`.
#' @examples
#' \dontrun{
#' best <- best_graphs(dagpost(dagpost_data("coronary"), seed = 1), 1)[[1]]
#' model_string(best)
#' plot(as_igraph(best))
#' fitted <- bnlearn::bn.fit(as_bn(best), bnlearn::coronary)
#' }
#' @export
as_igraph <- function(graph, threshold = 0.5) {
  need("igraph", "as_igraph()")
  if (inherits(graph, c("dagpost_model", "dagpost_sample"))) {
    if (!is.numeric(threshold) || length(threshold) != 1 || is.na(threshold)) {
      stop_plainly("'threshold' must be one number from 0 to 1. Got ", shown(threshold), " instead.")
    }
    edges <- edge_probabilities(graph)
    edges <- edges[edges$probability >= threshold, ]
    return(igraph::graph_from_data_frame(edges, vertices = data.frame(name = nodes_of(graph))))
  }
  check_graph(graph)
  igraph::graph_from_data_frame(as.data.frame(arcs_of(graph)), vertices = data.frame(name = rownames(graph)))
}

#' @rdname as_igraph
#' @export
as_bn <- function(graph) {
  check_graph(graph)
  need("bnlearn", "as_bn()", " model_string() gives the text that bnlearn reads elsewhere.")
  network <- bnlearn::empty.graph(rownames(graph))
  network <- bnlearn::`amat<-`(network, value = as_adjacency(graph))
  network
}

#' @rdname as_igraph
#' @export
model_string <- function(graph) {
  check_graph(graph)
  nodes <- rownames(graph)
  bad <- nodes[grepl("[][|:]", nodes)]
  if (length(bad) > 0) {
    stop_plainly("The name '", bad[1], "' has one of the characters [ ] | : in it, which separate names in a model ",
                 "string. Rename the column, or use as_bn().")
  }
  adjacency <- as_adjacency(graph)
  parts <- vapply(topological_order(adjacency), function(node) {
    parents <- nodes[adjacency[, node] == 1L]
    paste0("[", node, if (length(parents) > 0) "|", paste(parents, collapse = ":"), "]")
  }, "")
  paste(parts, collapse = "")
}

# Parents before children, otherwise in the order of the columns.
topological_order <- function(adjacency) {
  left <- rownames(adjacency)
  order <- character()
  while (length(left) > 0) {
    free <- left[colSums(adjacency[left, left, drop = FALSE]) == 0]
    order <- c(order, free)
    left <- setdiff(left, free)
  }
  order
}

need <- function(package, what, remedy = "") {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_plainly(what, " needs the package ", package, ": install.packages(\"", package, "\").", remedy)
  }
}
