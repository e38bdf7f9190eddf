#' What setting one column does to another
#'
#' The posterior of the total effect, averaged over all graphs. It assumes that
#' no common cause of two columns is missing from the table.
#'
#' @param model A model that [dagpost()] made.
#' @param cause,outcome Names of columns.
#' @param do The two values that are compared, such as `c("yes", "no")`; `NULL`:
#'   the model chooses, and says what.
#' @param outcome_level The level whose probability changes; `NULL`: the last.
#' @param given A statement about the graph that is taken for true.
#' @param confidence The confidence of intervals.
#' @param seed The seed of the draws; `NULL`: that of the model.
#' @param ... Further arguments of `DagPosterior.effect` in Python, by name.
#' @return A list of class `dagpost_effect`: `mean`, `interval`,
#'   `zero_probability` (that nothing changes), `parts`, a data frame with the
#'   direct part and those through other columns, `outcomes`, what would be seen,
#'   `assumptions`, and `draws`.
#' @examples
#' \dontrun{
#' effect(dagpost(dagpost_data("coronary"), seed = 1), "Smoking", "Pressure")
#' }
#' @export
effect <- function(model, cause, outcome, do = NULL, outcome_level = NULL, given = NULL, confidence = 0.95,
                   seed = NULL, ...) {
  python <- model_of(model)
  # Two values make a tuple of Python's; as in a list they would be two levels.
  compared <- if (!is.null(do)) do.call(reticulate::tuple, lapply(unname(as.list(do)), as_argument))
  arguments <- list(
    as_argument(cause), outcome, do = compared, outcome_level = as_argument(outcome_level), given = as_argument(given),
    confidence = confidence, seed = as_argument(seed)
  )
  others <- named(python$effect, ...)
  found <- in_python(do.call(python$effect, c(arguments, others)))
  in_python(structure(
    list(
      text = text_of(found),
      mean = reticulate::py_to_r(found$mean),
      interval = unlist(reticulate::py_to_r(found$interval())),
      zero_probability = reticulate::py_to_r(found$zero_probability),
      parts = frame_to_r(found$parts_table()),
      outcomes = frame_to_r(found$outcome_table()),
      assumptions = unlist(reticulate::py_to_r(found$assumptions)),
      draws = array_to_r(found$samples)
    ),
    class = "dagpost_effect"
  ))
}

#' @export
print.dagpost_effect <- function(x, ...) {
  cat(strwrap(x$text), sep = "\n")
  invisible(x)
}

#' @export
summary.dagpost_effect <- function(object, ...) object$parts
