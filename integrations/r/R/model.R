#' The posterior over all network structures of a table
#'
#' Weighs every network that the columns of a table can have by how well it
#' explains the rows. Exact for up to about 24 columns, and for more with tiers;
#' beyond that, from weighted samples or chains.
#'
#' @param data A data frame (or tibble), a matrix, a table of counts as
#'   [table()] makes it, or the path of a CSV or Parquet file. Factors keep their
#'   levels in the order they have, ordered factors their order. Text and
#'   logicals are levels. Integers and numbers are taken as the guide says: few
#'   different values are levels. `NA` is a gap.
#' @param score How well a parent set explains a column: `"auto"`, `"bdeu"`,
#'   `"bde"`, `"k2"`, `"bic"`, `"bge"` (numbers), `"conditional-gaussian"`,
#'   `"latent-gaussian"`, `"additive"` or `"committee"` (both), or
#'   `setting("BDeu", 10)`; see [setting()].
#' @param prior The weight of a parent set before the data: `"auto"` (averaged
#'   over how many edges there are, where that is quick), `"uniform"`,
#'   `"indegree"`, or `setting("EdgePrior", 0.1)`.
#' @param max_parents No column has more parents than this.
#' @param method How graphs are found: `"auto"`, a name, or a setting such as
#'   `setting("BlockGibbs", chains = 8)`.
#' @param required,forbidden Edges that every graph has, or that no graph has:
#'   text `"A -> B"`, or a data frame or matrix with columns from and to.
#' @param tiers A list of groups of names, earliest first: no edge leads back to
#'   an earlier group. Or a named vector with a number for each column.
#' @param exogenous Names of columns that may be parents and have none.
#' @param missing What to do about gaps: `"augment"`, `"drop"`, `"level"` or
#'   `"refuse"`; `NULL`: as the guide says.
#' @param counts The name of the column that says how many times each row was
#'   seen, or a vector of these numbers.
#' @param interventions The name of the column that says which column was set
#'   from outside in each row.
#' @param seed The seed of samples that are drawn for answers.
#' @param ... Further settings of `DagPosterior` in Python, by name:
#'   `modularity`, `samples`, `engine`, `threads`, `progress`, `recipe`,
#'   `regimes`.
#' @return A model of class `dagpost_model`. Ask it with [ask()],
#'   [edge_probabilities()], [directions()], [effect()], [best_graphs()],
#'   [sample_graphs()], `predict()` and `plot()`. It lives in Python: to keep it
#'   for another session of R, use [save_model()], not [saveRDS()].
#' @examples
#' \dontrun{
#' coronary <- dagpost_data("coronary")
#' model <- dagpost(coronary, seed = 1)
#' ask(model, "Smoking ~> Pressure")
#' }
#' @export
dagpost <- function(data, score = "auto", prior = "auto", max_parents = 5, method = "auto", required = NULL,
                    forbidden = NULL, tiers = NULL, exogenous = NULL, missing = NULL, counts = NULL,
                    interventions = NULL, seed = NULL, ...) {
  module <- dagpost_python()
  others <- named(module$DagPosterior, ...)
  if (inherits(data, "table")) {
    if (!is.null(counts)) stop_plainly("A table of counts has its own: leave out 'counts'.")
    labels <- names(dimnames(data))
    data <- as.data.frame(data, stringsAsFactors = TRUE)
    # as.data.frame puts the counts last, under a name that a column may have too, and changes names with blanks.
    counts <- data[[length(data)]]
    data <- data[-length(data)]
    if (!is.null(labels)) names(data) <- labels
  }
  settings <- list(
    score = as_argument(score), prior = as_argument(prior), max_parents = as_argument(max_parents),
    method = as_argument(method), required = as_edges(required), forbidden = as_edges(forbidden),
    tiers = as_tiers(tiers), exogenous = as_names(exogenous), missing = as_argument(missing), seed = as_argument(seed)
  )
  settings <- settings[lengths(settings) > 0]
  as_model(in_python({
    unfitted <- do.call(module$DagPosterior, c(settings, others))
    unfitted$fit(input(data), counts = column_or_values(counts), interventions = column_or_values(interventions))
  }))
}

input <- function(data) {
  if (is.character(data) && is.null(dim(data)) && length(data) == 1) path.expand(data) else table_to_python(data)
}

# The name of a column, or what would be in one.
column_or_values <- function(value) {
  if (is.null(value) || is.character(value) && length(value) == 1) return(value)
  if (is.numeric(value)) return(array_to_python(as.vector(value), whole_type(value)))
  unname(as_argument(as.list(as.character(value))))
}

whole_type <- function(value) if (all(is.finite(value)) && all(value == round(value))) "int64" else "float64"

as_model <- function(python) structure(list(python = python), class = "dagpost_model")

# The object of Python behind one of R. After saveRDS() or in a saved workspace there is none.
python_of <- function(object) {
  if (!inherits(object, c("dagpost_model", "dagpost_sample"))) {
    stop_plainly("This needs a model that dagpost() made, or a sample of one, not ", kind_of(object), ".")
  }
  if (reticulate::py_is_null_xptr(object$python)) {
    stop_plainly("This was made in another session of R and is gone. Use save_model() and load_model() to keep one.")
  }
  object$python
}

model_of <- function(object) {
  if (!inherits(object, "dagpost_model")) {
    stop_plainly("This needs a model that dagpost() made, not ", kind_of(object), ".")
  }
  python_of(object)
}

#' @export
print.dagpost_model <- function(x, ...) {
  cat(sentence_of(x), "\n", sep = "")
  invisible(x)
}

# What a model found, in a line; Python puts its settings before that.
sentence_of <- function(model) {
  python <- python_of(model)
  in_python({
    settings <- reticulate::py_to_r(python$settings_text())
    paste0("Posterior over networks: ", substring(text_of(python), nchar(settings) + 3L))
  })
}

#' What a model found
#'
#' @param object A model that [dagpost()] made.
#' @param threshold Pairs that are joined with at least this probability are
#'   listed.
#' @param ... Not used.
#' @return A list: `nodes`, `exact`, `log_evidence`, `method`, `reason`, why it
#'   was chosen, `verdict`, whether to trust chains (`NULL` without any), and
#'   `pairs`, the rows of [directions()] from the threshold on.
#' @export
summary.dagpost_model <- function(object, threshold = 0.5, ...) {
  model <- python_of(object)
  pairs <- directions(object)
  structure(
    list(
      text = sentence_of(object),
      nodes = nodes_of(object),
      exact = in_python(reticulate::py_to_r(model$exact_)),
      log_evidence = log_evidence(object),
      method = in_python(text_of(model$method_)),
      reason = in_python(text_of(model$method_reason_)),
      verdict = in_python(reticulate::py_to_r(model$verdict_)),
      threshold = threshold,
      pairs = pairs[pairs$joined >= threshold, ]
    ),
    class = "summary.dagpost_model"
  )
}

#' @export
print.summary.dagpost_model <- function(x, digits = 2, ...) {
  cat(x$text, "\n", sep = "")
  if (!is.na(x$log_evidence)) cat("Log evidence: ", format(x$log_evidence, nsmall = 2), "\n", sep = "")
  cat("Method: ", x$method, ", ", x$reason, "\n", sep = "")
  if (!is.null(x$verdict)) cat(x$verdict, "\n")
  cat("\nPairs joined with probability ", format(x$threshold), " or more:\n", sep = "")
  print(x$pairs[c("from", "to", "joined", "by_data", "by_data_back", "direction")], digits = digits, row.names = FALSE)
  invisible(x)
}

#' The log evidence of a model
#'
#' @param model A model that [dagpost()] made.
#' @return The natural log of the probability of the data under all graphs
#'   together; `NA` where it is not known, as with gaps.
#' @export
log_evidence <- function(model) {
  python <- model_of(model)
  found <- in_python(if (reticulate::py_has_attr(python, "log_evidence_")) reticulate::py_to_r(python$log_evidence_))
  if (is.null(found) || is.nan(found)) NA_real_ else found
}

nodes_of <- function(object) {
  python <- python_of(object)
  unlist(reticulate::py_to_r(if (inherits(object, "dagpost_model")) python$names_ else python$names))
}
