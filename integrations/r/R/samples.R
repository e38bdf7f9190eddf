#' Draw graphs from the posterior, or list the most probable ones
#'
#' @param model A model that [dagpost()] made.
#' @param n How many graphs.
#' @param seed The seed; `NULL`: a new one each time.
#' @param k How many of the most probable graphs.
#' @param ... Further arguments of `DagPosterior.sample` in Python, by name, such
#'   as `precision = 0.01` in place of `n`.
#' @return An object of class `dagpost_sample`. `x[[1]]` is its first graph (see
#'   [as_igraph()]), `x[1:10]` a smaller sample, `lapply(x, ...)` takes one graph
#'   after the other; `weights(x)` has what each graph counts, `length(x)` how many
#'   there are, `probabilities(x)` the posterior probability of each graph. All
#'   that asks a model, such as [ask()] and [edge_probabilities()], asks a sample
#'   too.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' graphs <- sample_graphs(model, 1000, seed = 1)
#' plot(as_igraph(graphs[[1]]))
#' model_string(best_graphs(model, 1)[[1]])
#' }
#' @export
sample_graphs <- function(model, n = NULL, seed = NULL, ...) {
  python <- model_of(model)
  others <- named(python$sample, ...)
  as_sample(in_python(do.call(python$sample, c(list(as_argument(n), seed = as_argument(seed)), others))))
}

#' @rdname sample_graphs
#' @export
best_graphs <- function(model, k = 1) {
  python <- model_of(model)
  as_sample(in_python(python$best(as_argument(k))))
}

as_sample <- function(python) structure(list(python = python), class = "dagpost_sample")

#' @rdname sample_graphs
#' @param x A sample.
#' @export
probabilities <- function(x) {
  sample <- sample_of(x)
  found <- in_python(simplified(reticulate::py_to_r(sample$posterior_probabilities())))
  as.numeric(found)
}

sample_of <- function(object) {
  if (!inherits(object, "dagpost_sample")) {
    stop_plainly("This needs a sample that sample_graphs() or best_graphs() made, not ", kind_of(object), ".")
  }
  python_of(object)
}

#' @export
print.dagpost_sample <- function(x, ...) {
  cat(sub("^DagSample", "Sample", in_python(text_of(python_of(x)))), "\n", sep = "")
  invisible(x)
}

#' @export
summary.dagpost_sample <- function(object, ...) {
  sample <- python_of(object)
  found <- in_python(reticulate::py_to_r(sample$summary()))
  c(list(graphs = length(object), nodes = nodes_of(object)), found)
}

#' @export
length.dagpost_sample <- function(x) {
  reticulate::py_len(python_of(x))
}

#' @importFrom stats weights
#' @export
weights.dagpost_sample <- function(object, ...) {
  array_to_r(python_of(object)$weights)
}

#' @export
`[.dagpost_sample` <- function(x, i) {
  sample <- python_of(x)
  as_sample(in_python(reticulate::py_get_item(sample, array_to_python(check_places(i, length(x)) - 1L, "int64"))))
}

#' @export
`[[.dagpost_sample` <- function(x, i, ...) {
  if (length(i) != 1) stop_plainly("x[[i]] is one graph. Got ", shown(i), "; x[i] is a sample of several.")
  as_graph(as_adjacency(x, i), nodes_of(x))
}

#' @export
as.list.dagpost_sample <- function(x, ...) {
  nodes <- nodes_of(x)
  lapply(asplit(as_adjacency(x), 3), as_graph, nodes)
}

#' Adjacency matrices of graphs
#'
#' @param x A sample of [sample_graphs()] or [best_graphs()], or one graph of it.
#' @param i Which graphs of a sample: numbers, from 1 on; `NULL`: all.
#' @return Of a sample, an array of zeros and ones: from, to, graph. Of a graph, a
#'   matrix: from, to.
#' @export
as_adjacency <- function(x, i = NULL) {
  if (inherits(x, "dagpost_graph")) return(unclass(x))
  sample <- sample_of(if (is.null(i)) x else x[i])
  nodes <- nodes_of(x)
  found <- in_python(array_to_r(sample$adjacency()$transpose(1L, 2L, 0L)))
  array(as.integer(found), dim(found), list(from = nodes, to = nodes, graph = NULL))
}

check_places <- function(i, count) {
  if (!is.numeric(i) || length(i) == 0 || anyNA(i) || any(i != round(i)) || any(i < 1 | i > count)) {
    stop_plainly("Graphs are numbered from 1 to ", count, ". Got ", shown(i), " instead.")
  }
  as.integer(i)
}
