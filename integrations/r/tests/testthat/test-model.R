test_that("bundled data is a data frame of factors, one row an observation", {
  skip_without_python()
  expect_equal(dim(coronary), c(1841L, 6L))
  expect_true(all(vapply(coronary, is.factor, NA)))
  expect_equal(levels(coronary$Pressure), c("<140", ">140"))
  expect_error(dagpost_data("coronay"), "Did you mean 'coronary'", class = "dagpost_error")
})

test_that("a model prints what it found, in one line", {
  skip_without_python()
  expect_output(print(model), "^Posterior over networks: 6 variables, 1,841 observations; exact")
  expect_output(print(summary(model)), "Pairs joined with probability 0.5 or more")
})

test_that("whole numbers of R are ints of Python", {
  skip_without_python()
  expect_equal(reticulate::py_to_r(setting("BlockGibbs", chains = 8)$chains), 8L)
  expect_error(dagpost(coronary, max_parents = 2.5), "must be an int", class = "dagpost_error")
})

test_that("arguments that are not there are refused", {
  skip_without_python()
  expect_error(dagpost(coronary, scroe = "bdeu"), "There is no argument 'scroe'. Python knows: score", class = "dagpost_error")
  expect_error(sample_graphs(model, 10, sed = 1), "There is no argument 'sed'", class = "dagpost_error")
  expect_error(setting("BDeu", ess = 10), "no argument 'ess'. Python knows: equivalent_sample_size", class = "dagpost_error")
  expect_error(plot(model, engine = "matplotlib", lay = 1), "There is no argument 'lay'", class = "dagpost_error")
  expect_error(setting("Bdue"), "There is no setting \"Bdue\"", class = "dagpost_error")
})

test_that("rules come as text, as a table of two columns, and as tiers", {
  skip_without_python()
  edges <- function(...) edge_probabilities(dagpost(coronary, score = "bdeu", ...), as = "matrix")
  required <- edges(required = "Smoking -> Pressure")
  expect_equal(required["Smoking", "Pressure"], 1)
  expect_equal(edges(required = data.frame(from = "Smoking", to = "Pressure")), required)
  forbidden <- edges(forbidden = cbind(from = c("Smoking", "Smoking"), to = c("Pressure", "M. Work")))
  expect_equal(unname(forbidden["Smoking", c("Pressure", "M. Work")]), c(0, 0))
  tiers <- list("Family", c("Smoking", "M. Work", "P. Work"), c("Pressure", "Proteins"))
  tiered <- edges(tiers = tiers)
  expect_true(all(tiered["Pressure", unlist(tiers[1:2])] == 0))
  numbered <- c(Family = 1, Smoking = 2, "M. Work" = 2, "P. Work" = 2, Pressure = 3, Proteins = 3)
  expect_equal(edges(tiers = numbered), tiered)
})

test_that("a model is kept in a file, and not by saveRDS", {
  skip_without_python()
  file <- tempfile(fileext = ".dagpost")
  expect_equal(save_model(model, file), file)
  expect_equal(edge_probabilities(load_model(file)), edge_probabilities(model))
  kept <- unserialize(serialize(model, NULL))
  expect_error(print(kept), "another session of R", class = "dagpost_error")
})

test_that("a report is one file", {
  skip_without_python()
  file <- tempfile(fileext = ".html")
  report(sample_graphs(model, 200, seed = 1), file, title = "Car workers")
  expect_match(paste(readLines(file, warn = FALSE), collapse = "\n"), "Car workers", fixed = TRUE)
})

test_that("a picture fills the device", {
  skip_without_python()
  file <- tempfile(fileext = ".png")
  grDevices::png(file, 400, 300)
  if (reticulate::py_module_available("matplotlib")) expect_identical(plot(model, resolution = 72), model)
  if (requireNamespace("igraph", quietly = TRUE)) expect_identical(plot(model, engine = "igraph"), model)
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
})

test_that("warnings of Python are warnings of R", {
  skip_without_python()
  expect_warning(in_python(reticulate::import("warnings", convert = FALSE)$warn("Look here.")), "^Look here.$")
})

test_that("errors of Python come without a traceback, others with their kind", {
  skip_without_python()
  told <- tryCatch(ask(model, "Smokin -> Pressure"), error = conditionMessage)
  expect_equal(told, "There is no variable 'Smokin'. Did you mean 'Smoking'?\n  Smokin -> Pressure\n  ^")
  expect_error(in_python(reticulate::import_builtins()$int("x")), "^ValueError: invalid literal", class = "dagpost_error")
  expect_error(in_python(stop("of R")), "^of R$", class = "dagpost_error")
})
