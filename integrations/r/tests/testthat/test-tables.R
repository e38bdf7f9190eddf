test_that("factors keep their levels in the order they have, also those that never occur", {
  skip_without_python()
  data <- data.frame(size = factor(c("small", "large", "small"), levels = c("small", "large", "huge")), other = c("x", "y", "x"))
  expect_equal(unlist(levels_of(table_of(data))[[1]]), c("small", "large", "huge"))
})

test_that("ordered factors are in order, others are not", {
  skip_without_python()
  grade <- c("low", "middle", "high", "low")
  order <- c("low", "middle", "high")
  data <- data.frame(free = factor(grade, levels = order), bound = factor(grade, levels = order, ordered = TRUE))
  expect_equal(unlist(reticulate::py_to_r(table_of(data)$in_order)), "bound")
})

test_that("NA is a gap in every kind of column", {
  skip_without_python()
  data <- data.frame(
    factor = factor(c("a", NA, "b", "a")), extra = addNA(factor(c("a", "b", NA, "a"))), text = c("x", "y", "x", NA),
    logical = c(NA, TRUE, FALSE, TRUE), integer = c(1L, NA, 2L, 1L), number = c(0.5, 1.5, NA, 0.5)
  )
  expected <- t(vapply(data, function(column) as.numeric(is.na(as.vector(column))), numeric(4)))
  expect_equal(gaps_of(table_of(data)), unname(expected))
  expect_equal(gaps_of(table_of(tibble_of(data))), unname(expected))
})

test_that("logicals, integers and text have the values they have", {
  skip_without_python()
  data <- data.frame(logical = c(TRUE, FALSE), integer = c(3L, 7L), text = c("b b", "\u00fc"))
  expect_equal(lapply(levels_of(table_of(data)), unlist), list(c(FALSE, TRUE), c(3, 7), c("b b", "\u00fc")))
})

test_that("numbers arrive bit by bit", {
  skip_without_python()
  values <- c(pi, -1e300, 2^-1000, NA, 1 / 3, NaN)
  expect_identical(array_to_r(array_to_python(values, "float64")), ifelse(is.na(values), NaN, values))
})

test_that("names with blanks, dots and umlauts arrive as they are", {
  skip_without_python()
  data <- data.frame(1:2, 2:1, c("a", "b"))
  names(data) <- c("M. Work", "gr\u00f6\u00dfe in cm", "a.b")
  expect_equal(unlist(reticulate::py_to_r(table_of(data)$names)), names(data))
})

test_that("rows are counted from one, or have the names they have", {
  skip_without_python()
  expect_equal(level_names(table_to_python(data.frame(a = 1:3))$index), c("1", "2", "3"))
  expect_equal(level_names(table_to_python(data.frame(a = 1:2, row.names = c("x", "y")))$index), c("x", "y"))
})

test_that("a table of counts is data", {
  skip_without_python()
  counted <- dagpost(table(coronary), score = "bdeu")
  expect_equal(edge_probabilities(counted, as = "matrix"), edge_probabilities(model, as = "matrix"), tolerance = 1e-12)
})

test_that("a data frame goes to Python and comes back", {
  skip_without_python()
  data <- data.frame(
    level = factor(c("a", NA, "b")), number = c(0.5, NaN, -2), text = c("x", NA, "\u00fc"), truth = c(TRUE, FALSE, TRUE)
  )
  expect_equal(frame_to_r(table_to_python(data)), data)
})

test_that("what cannot be a column is refused by name", {
  skip_without_python()
  data <- data.frame(a = 1:2)
  refused <- function(column, words) {
    data$wrong <- column
    expect_error(dagpost(data), paste0("'wrong' ", words), class = "dagpost_error")
  }
  refused(list(1, "a"), "is a list")
  refused(matrix(1:4, 2), "is a matrix")
  refused(complex(2), "is of type complex")
  refused(structure(1:2, class = c("haven_labelled", "integer")), "has labels")
  refused(structure(c(1, 2), class = "integer64"), "holds 64-bit integers")
  expect_error(dagpost(coronary[0, ]), "^The table is empty: 6 columns and 0 rows", class = "dagpost_error")
  expect_error(dagpost(list(1)), "must be a data frame", class = "dagpost_error")
})

test_that("a file is read by Python, a Parquet file in a process of its own", {
  skip_without_python()
  file <- tempfile(fileext = ".csv")
  utils::write.csv(coronary, file, row.names = FALSE)
  expect_equal(log_evidence(dagpost(file, score = "bdeu")), log_evidence(model))
  skip_if_not(reticulate::py_module_available("pyarrow"), "pyarrow")
  file <- tempfile(fileext = ".parquet")
  table_to_python(coronary)$to_parquet(file)
  expect_equal(log_evidence(dagpost(file, score = "bdeu")), log_evidence(model))
})
