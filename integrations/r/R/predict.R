#' Predict one column from the others, averaged over graphs
#'
#' @param object A model that [dagpost()] made.
#' @param newdata A data frame with the columns of the model. The target itself is
#'   not looked at.
#' @param target The name of the column to predict; `NULL`: none, see below.
#' @param type `"response"`: the likeliest level, as a factor, or the mean of a
#'   number. `"distribution"`: a matrix with the probability of each level, or a
#'   data frame with mean, sd, median, lower and upper.
#' @param ... Further arguments of `predict_proba` and `predict_number` in Python,
#'   by name, such as `confidence` for numbers.
#' @return See `type`. Without a target, the log probability (density) of each row.
#' @importFrom stats predict
#' @export
predict.dagpost_model <- function(object, newdata, target = NULL, type = c("response", "distribution"), ...) {
  type <- match.arg(type)
  if (missing(newdata)) stop_plainly("predict() needs 'newdata': a model does not hand out the rows it was fitted to.")
  model <- model_of(object)
  rows <- input(newdata)
  further <- function(method) named(method, ...)
  predicted <- function(method, ...) do.call(method, c(list(rows, ...), further(method)))
  if (is.null(target)) return(in_python(array_to_r(predicted(model$score_samples))))
  if (is_number(model, target)) {
    found <- in_python(frame_to_r(predicted(model$predict_number, target = target)))
    return(if (type == "response") found$mean else found)
  }
  found <- in_python(matrix_to_r(predicted(model$predict_proba, target = target)))
  rownames(found) <- NULL
  if (type == "distribution") return(found)
  factor(colnames(found)[max.col(found, ties.method = "first")], levels = colnames(found))
}

# Whether a column is one of numbers to the model, whatever it looks like.
is_number <- function(model, target) {
  if (!reticulate::py_has_attr(model, "predict_proba")) return(TRUE)
  place <- match(target, unlist(reticulate::py_to_r(model$names_)))
  # What is not there is refused by Python, with the names that are.
  if (is.na(place)) return(FALSE)
  is.null(reticulate::py_to_r(reticulate::py_get_item(model$fitted_$data$levels, place - 1L)))
}
