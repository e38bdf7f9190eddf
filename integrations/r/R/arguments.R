# Arguments on their way to Python: whole numbers become ints, vectors become
# lists, vectors and lists with names become dicts. NULL is None.

as_argument <- function(value) {
  if (is.null(value) || inherits(value, "python.builtin.object")) return(value)
  if (is.factor(value)) value <- as.character(value)
  if (is.list(value)) {
    converted <- lapply(value, as_argument)
    return(if (is.null(names(value))) converted else as_dict(names(value), converted))
  }
  if (!is.null(names(value))) return(as_dict(names(value), lapply(unname(value), as_scalar)))
  if (length(value) == 1) as_scalar(value) else lapply(value, as_scalar)
}

as_dict <- function(keys, values) reticulate::py_dict(as.list(enc2utf8(keys)), values, convert = FALSE)

as_scalar <- function(value) {
  if (is.na(value) && !is.nan(value)) return(NULL)
  whole <- is.numeric(value) && is.finite(value) && value == round(value)
  if (whole) reticulate::import_builtins(convert = FALSE)$int(as.numeric(value)) else value
}

# Several names, as a list of Python's even where it is only one: a text alone
# would be read letter by letter.
as_names <- function(value) {
  if (!is.null(value)) as.list(enc2utf8(as.character(value)))
}

# Edges: text "A -> B", or two columns from, to, as the white lists and black
# lists of bnlearn have them.
as_edges <- function(value) {
  if (is.null(value)) return(NULL)
  if (is.data.frame(value) || is.matrix(value)) {
    if (ncol(value) != 2) stop_plainly("Edges in a table must have two columns, from and to, not ", ncol(value), ".")
    from <- as.character(value[, 1, drop = TRUE])
    to <- as.character(value[, 2, drop = TRUE])
    return(unname(Map(function(one, other) reticulate::tuple(one, other), from, to)))
  }
  as_names(value)
}

# Groups of names, earliest first, or a number for each name.
as_tiers <- function(value) {
  if (is.null(value)) return(NULL)
  if (is.list(value)) return(lapply(unname(value), as_names))
  as_argument(value)
}

# Further arguments of a function in Python: each must have a name that it knows.
named <- function(callable, ...) {
  given <- list(...)
  if (length(given) > 0 && (is.null(names(given)) || any(names(given) == ""))) {
    stop_plainly("Further arguments must have names.")
  }
  refuse_unknown(names(given), callable)
  lapply(given, as_argument)
}

refuse_unknown <- function(given, callable) {
  parameters <- reticulate::import("inspect", convert = FALSE)$signature(callable)$parameters
  known <- unlist(reticulate::iterate(parameters, reticulate::py_to_r))
  unknown <- setdiff(given, c(known, ""))
  if (length(unknown) > 0) {
    stop_plainly("There is no argument '", unknown[1], "'. Python knows: ", paste(known, collapse = ", "), ".")
  }
}

#' A score, a prior or a method with settings
#'
#' Wherever a name is not enough: `setting("BDeu", 10)` is the score BDeu with an
#' equivalent sample size of 10, `setting("EdgePrior", 0.1)` a prior,
#' `setting("BlockGibbs", chains = 8)` a method.
#'
#' @param name The name of the class in Python, as its guide has it.
#' @param ... The settings.
#' @return An object for the arguments `score`, `prior`, `method` or `recipe` of
#'   [dagpost()].
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), score = setting("BDeu", 10))
#' }
#' @export
setting <- function(name, ...) {
  module <- dagpost_python()
  if (!is.character(name) || length(name) != 1 || !reticulate::py_has_attr(module, name)) {
    stop_plainly("There is no setting ", shown(name), ". Examples: \"BDeu\", \"BGe\", \"EdgePrior\", \"BlockGibbs\".")
  }
  class <- module[[name]]
  given <- list(...)
  refuse_unknown(names(given), class)
  in_python(do.call(class, lapply(given, as_argument)))
}

shown <- function(value) paste(utils::capture.output(dput(value)), collapse = " ")
