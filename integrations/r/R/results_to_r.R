# Tables on their way back from Python: pandas tables become data frames, or
# matrices where all of it is numbers.

frame_to_r <- function(frame, row_names = FALSE) {
  labels <- level_names(frame$columns)
  every <- reticulate::import_builtins(convert = FALSE)$slice(NULL)
  columns <- lapply(seq_along(labels), function(place) {
    series_to_r(reticulate::py_get_item(frame$iloc, reticulate::tuple(every, place - 1L)))
  })
  result <- as.data.frame(columns, col.names = seq_along(labels), stringsAsFactors = FALSE)
  names(result) <- labels
  if (row_names) row.names(result) <- level_names(frame$index)
  result
}

matrix_to_r <- function(frame) {
  result <- array_to_r(frame$to_numpy(dtype = "float64"))
  dimnames(result) <- list(level_names(frame$index), level_names(frame$columns))
  result
}

series_to_r <- function(series) {
  if (text_of(series$dtype) == "category") {
    codes <- as.integer(unlist(reticulate::py_to_r(series$cat$codes$tolist())))
    known <- level_names(series$cat$categories)
    ordered <- reticulate::py_to_r(series$cat$ordered)
    return(factor(known[ifelse(codes < 0, NA, codes + 1L)], levels = known, ordered = ordered))
  }
  simplified(reticulate::py_to_r(series$tolist()))
}

# One value for each: a list with gaps becomes a vector with NA.
simplified <- function(values) {
  if (!is.list(values)) return(values)
  text <- any(vapply(values, is.character, NA))
  gap <- vapply(values, function(one) length(one) != 1 || is.environment(one) || text && !is.character(one), NA)
  result <- rep(if (text) NA_character_ else NA, length(values))
  result[!gap] <- unlist(values[!gap])
  result
}

# What an index of pandas holds, as text: TRUE and not True.
level_names <- function(index) {
  as.character(unlist(reticulate::py_to_r(index$tolist())))
}
