test_that("an answer is a number that says how it was found", {
  skip_without_python()
  answer <- ask(model, "Smoking ~> Pressure")
  expect_output(print(answer), "^0.3759 \\(exact; each graph counted once\\)$")
  expect_equal(answer * 2, 2 * as.double(answer))
  expect_true(answer < 0.5)
  expect_equal(round(answer, 2), 0.38)
  expect_equal(max(answer, 0.1), as.double(answer))
  known <- as.data.frame(answer)
  expect_true(known$exact)
  expect_equal(known$lower, as.double(answer))
})

test_that("several statements are asked at once, and conditions are taken for true", {
  skip_without_python()
  both <- c("Smoking -> Pressure", "Pressure -> Smoking")
  expect_equal(sum(ask(model, both, given = "Smoking -- Pressure")), 1)
  expect_output(print(ask(model, both)), "^Smoking -> Pressure  0.*\nPressure -> Smoking  0")
  assumed <- given(model, "Smoking -> Pressure")
  expect_equal(as.double(ask(assumed, "Smoking -> Pressure")), 1)
  expect_equal(as.double(ask(assumed, "Family -> Smoking")), as.double(ask(model, "Family -> Smoking", "Smoking -> Pressure")))
  expect_error(ask(model, 3), "must be text", class = "dagpost_error")
})

test_that("edges come as a long table and as a matrix", {
  skip_without_python()
  long <- edge_probabilities(model)
  square <- edge_probabilities(model, as = "matrix")
  expect_named(long, c("from", "to", "probability"))
  expect_equal(nrow(long), 30)
  expect_false(is.unsorted(-long$probability))
  expect_equal(square[cbind(long$from, long$to)], long$probability)
  expect_equal(square["Smoking", "Pressure"], as.double(ask(model, "Smoking -> Pressure")))
})

test_that("strengths are as bnlearn has them", {
  skip_without_python()
  strength <- arc_strength(model)
  expect_s3_class(strength, c("bn.strength", "data.frame"), exact = TRUE)
  expect_named(strength, c("from", "to", "strength", "direction"))
  expect_equal(attributes(strength)[c("method", "threshold", "nodes")],
               list(method = "bootstrap", threshold = 0.5, nodes = names(coronary)))
  square <- edge_probabilities(model, as = "matrix")
  expect_equal(strength$strength * strength$direction, square[cbind(strength$from, strength$to)])
  skip_if_not_installed("bnlearn")
  expect_s3_class(bnlearn::averaged.network(strength), "bn")
})

test_that("directions come one row a pair", {
  skip_without_python()
  pairs <- directions(model)
  expect_equal(nrow(pairs), 15)
  expect_true(all(pairs$direction %in% c("clear", "leaning", "rules", "model", "open")))
})

test_that("an effect has a sentence, parts and draws", {
  skip_without_python()
  found <- effect(model, "Smoking", "Pressure", do = c("yes", "no"), draws = 500)
  expect_output(print(found), "^With Smoking set to yes rather than no")
  expect_length(found$draws, 500)
  expect_equal(found$parts$part[1:2], c("total", "direct"))
  expect_equal(found$outcomes[["do Smoking"]][1], "no")
})

test_that("levels and numbers are predicted", {
  skip_without_python()
  rows <- coronary[c(1, 900, 1841), ]
  shares <- predict(model, rows, "Pressure", type = "distribution")
  expect_equal(dimnames(shares), list(NULL, c("<140", ">140")))
  expect_equal(rowSums(shares), c(1, 1, 1))
  likeliest <- predict(model, rows, "Pressure")
  expect_equal(levels(likeliest), levels(coronary$Pressure))
  expect_length(predict(model, rows), 3)
  expect_error(predict(model, rows, "Presure"), "Did you mean 'Pressure'", class = "dagpost_error")
  expect_error(predict(model), "needs 'newdata'", class = "dagpost_error")
})

test_that("names of R, with dots, need no quotes", {
  skip_without_python()
  flowers <- suppressWarnings(dagpost(iris[1:4], seed = 1))
  expect_equal(as.double(ask(flowers, "Petal.Length -- Petal.Width")), 1, tolerance = 1e-6)
  expect_equal(predict(flowers, iris[1:2, 1:4], "Petal.Width"), c(0.2, 0.2), tolerance = 0.2)
  expect_error(predict(flowers, iris[1:4], "Petal.Widht"), "Did you mean 'Petal.Width'", class = "dagpost_error")
})
