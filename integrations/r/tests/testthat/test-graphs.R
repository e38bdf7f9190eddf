test_that("a sample has graphs, weights and answers", {
  skip_without_python()
  drawn <- sample_graphs(model, 300, seed = 1)
  expect_length(drawn, 300)
  expect_equal(sum(weights(drawn)), 1)
  expect_output(print(drawn), "^Sample of 300 independent graphs over 6 variables")
  adjacency <- as_adjacency(drawn)
  expect_equal(dim(adjacency), c(6, 6, 300))
  mean_edges <- apply(adjacency, 1:2, function(there) sum(there * weights(drawn)))
  expect_equal(unname(mean_edges), unname(edge_probabilities(drawn, as = "matrix")))
  expect_identical(as_adjacency(drawn[[7]]), adjacency[, , 7])
  expect_error(drawn[[301]], "numbered from 1 to 300", class = "dagpost_error")
  expect_error(drawn[[1:2]], "is one graph. Got 1:2", class = "dagpost_error")
})

test_that("a part of a sample is a sample, and graphs come one after the other", {
  skip_without_python()
  best <- best_graphs(model, 4)
  expect_equal(probabilities(best[2:3]), probabilities(best)[2:3])
  expect_length(head(best, 2), 2)
  expect_equal(as_adjacency(best[-1]), as_adjacency(best)[, , 2:4])
  expect_equal(as_adjacency(best[c(TRUE, FALSE)]), as_adjacency(best, c(1, 3)))
  expect_equal(lapply(best, model_string)[[4]], model_string(best[[4]]))
  expect_error(best[5], "numbered from 1 to 4. Got 5", class = "dagpost_error")
})

test_that("the best graphs have probabilities, best first", {
  skip_without_python()
  best <- best_graphs(model, 3)
  expect_length(best, 3)
  expect_false(is.unsorted(-probabilities(best)))
  expect_equal(probabilities(best)[1], 0.024957424804238175)
})

test_that("a graph becomes an igraph, a model string and a network of bnlearn", {
  skip_without_python()
  graph <- best_graphs(model, 1)[[1]]
  expect_output(print(graph), "^Graph of 6 nodes and ")
  expect_equal(model_string(as_graph(c(0, 0, 0, 1, 0, 0, 1, 1, 0), c("A", "B. c", "D"))), "[A][B. c|A][D|A:B. c]")
  expect_error(model_string(as_graph(0, "A|B")), "has one of the characters", class = "dagpost_error")
  if (requireNamespace("igraph", quietly = TRUE)) {
    expect_equal(as.matrix(igraph::as_adjacency_matrix(as_igraph(graph))), as_adjacency(graph), ignore_attr = TRUE)
    probable <- as_igraph(model, threshold = 0.4)
    expect_true(all(igraph::E(probable)$probability >= 0.4))
    expect_error(as_igraph(model, "a"), "must be one number from 0 to 1. Got \"a\"", class = "dagpost_error")
  }
  if (!requireNamespace("bnlearn", quietly = TRUE)) {
    expect_error(as_bn(graph), "needs the package bnlearn", class = "dagpost_error")
    skip("bnlearn is not installed: as_bn() was not tried")
  }
  expect_equal(bnlearn::amat(as_bn(graph)), as_adjacency(graph), ignore_attr = TRUE)
  expect_equal(bnlearn::modelstring(bnlearn::model2network(model_string(graph))), bnlearn::modelstring(as_bn(graph)))
})
