#' How probable every edge is
#'
#' @param model A model that [dagpost()] made, or a sample of [sample_graphs()].
#' @param relation `"->"` for edges, `"~>"` for directed paths, `"--"` for edges
#'   either way.
#' @param as `"data.frame"`: one row a pair, most probable first; `"matrix"`:
#'   parents in the rows, children in the columns.
#' @return A data frame with the columns from, to, probability; or a matrix.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' head(edge_probabilities(model))
#' edge_probabilities(model, "~>", as = "matrix")
#' }
#' @export
edge_probabilities <- function(model, relation = "->", as = c("data.frame", "matrix")) {
  as <- match.arg(as)
  python <- python_of(model)
  found <- in_python(matrix_to_r(python$probability_matrix(relation)))
  if (as == "matrix") return(found)
  pairs <- pairs_of(rownames(found))
  pairs$probability <- found[cbind(pairs$from, pairs$to)]
  pairs <- pairs[order(-pairs$probability), ]
  row.names(pairs) <- NULL
  pairs
}

# All pairs of two, sorted as bnlearn has them.
pairs_of <- function(nodes) {
  pairs <- expand.grid(to = nodes, from = nodes, stringsAsFactors = FALSE)[2:1]
  pairs <- pairs[pairs$from != pairs$to, ]
  row.names(pairs) <- NULL
  attr(pairs, "out.attrs") <- NULL
  pairs
}

#' Edge probabilities as arc strengths of bnlearn
#'
#' The same table that `bnlearn::boot.strength()` makes, with probabilities in
#' place of shares of bootstrap samples: `strength` is the probability of an edge
#' either way, `direction` that it leads this way, given that it is there. It can
#' be given to `bnlearn::averaged.network()` and `bnlearn::strength.plot()`.
#'
#' @param model A model that [dagpost()] made, or a sample of [sample_graphs()].
#' @param threshold The threshold that bnlearn uses unless told otherwise.
#' @return A data frame of class `bn.strength`, with the columns from, to,
#'   strength, direction.
#' @export
arc_strength <- function(model, threshold = 0.5) {
  python <- python_of(model)
  result <- in_python(frame_to_r(dagpost_python()$strength_table(python)))
  # As bnlearn's custom.strength() marks networks that come from elsewhere.
  structure(result, method = "bootstrap", threshold = threshold, nodes = nodes_of(model),
            class = c("bn.strength", "data.frame"))
}

#' Which way each pair points, and who says so
#'
#' @param model A model that [dagpost()] made, or a sample of [sample_graphs()].
#' @param confidence The confidence of the bounds.
#' @return A data frame with one row a pair: from, to; joined, the probability of
#'   an edge between the two; by_data, that it is there and the data compel it to
#'   lead from `from` to `to` (by_data_back: back), with bounds lower and upper;
#'   by_rules and by_model, that rules or the model decide it; reversible, that
#'   nothing does; direction, all of it in a word: clear, leaning, rules, model
#'   or open.
#' @export
directions <- function(model, confidence = 0.95) {
  python <- python_of(model)
  in_python(frame_to_r(python$directions(confidence = confidence)))
}
