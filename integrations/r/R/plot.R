#' Draw the graph of a model
#'
#' The darker and wider a line, the more probable the edge. A filled head means
#' that the data compel the direction; a line without a head that they cannot
#' tell.
#'
#' @param x A model that [dagpost()] made, or a sample of [sample_graphs()].
#' @param engine `"matplotlib"`: the picture that Python draws, with a legend, in
#'   the size of the device; `"igraph"`: a plain one by the package igraph;
#'   `"auto"`: the first that is installed.
#' @param threshold Less probable pairs are not drawn; `NULL`: as the engine has
#'   it.
#' @param resolution Pixels an inch; `NULL`: those of a screen, more for a file.
#' @param ... Further arguments of the picture in Python, by name (`layout`,
#'   `numbers`, `legend`), or of `igraph::plot.igraph()`.
#' @return The model, invisibly.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' plot(model)
#' }
#' @export
plot.dagpost_model <- function(x, engine = c("auto", "matplotlib", "igraph"), threshold = NULL, resolution = NULL, ...) {
  engine <- match.arg(engine)
  python <- python_of(x)
  if (engine == "auto") engine <- if (reticulate::py_module_available("matplotlib")) "matplotlib" else "igraph"
  if (engine == "igraph") {
    plot_igraph(x, if (is.null(threshold)) 0.1 else threshold, ...)
  } else {
    options <- named(dagpost_python()$plots$graph, ...)
    if (!is.null(threshold)) options$threshold <- threshold
    draw_picture(function(axes) do.call(python$plot, c(list(ax = axes), options)), resolution)
  }
  invisible(x)
}

#' @rdname plot.dagpost_model
#' @export
plot.dagpost_sample <- plot.dagpost_model

# Draw with matplotlib, in memory, and put the pixels on the device of R.
draw_picture <- function(draw, resolution) {
  before <- graphics::par(mar = c(0, 0, 0, 0))
  on.exit(graphics::par(before))
  # A page must be open before it has a size.
  graphics::plot.new()
  size <- graphics::par("fin")
  if (is.null(resolution)) resolution <- if (grDevices::dev.interactive()) 144 else 200
  pixels <- in_python({
    figures <- reticulate::import("matplotlib.figure", convert = FALSE)
    backend <- reticulate::import("matplotlib.backends.backend_agg", convert = FALSE)
    figure <- figures$Figure(figsize = reticulate::tuple(size[1], size[2]), dpi = resolution)
    canvas <- backend$FigureCanvasAgg(figure)
    draw(figure$add_axes(reticulate::tuple(0.02, 0.02, 0.96, 0.96)))
    canvas$draw()
    numpy <- reticulate::import("numpy", convert = FALSE)
    array_to_r(numpy$asarray(canvas$buffer_rgba()))
  })
  graphics::plot.window(c(0, 1), c(0, 1), xaxs = "i", yaxs = "i")
  graphics::rasterImage(grDevices::as.raster(pixels, max = 255), 0, 0, 1, 1)
}

# As in the other picture, both directions of an edge share a line, with a head only where something decides it.
plot_igraph <- function(x, threshold, ...) {
  need("igraph", "A picture without matplotlib")
  pairs <- directions(x)
  pairs <- pairs[pairs$joined >= threshold, ]
  onward <- pairs$by_data + pairs$by_rules + pairs$by_model
  back <- pairs$by_data_back + pairs$by_rules_back + pairs$by_model_back
  graph <- igraph::graph_from_data_frame(pairs[c("from", "to")], vertices = data.frame(name = nodes_of(x)))
  options <- list(
    edge.arrow.mode = ifelse(pairs$direction == "open", 0, ifelse(onward >= back, 2, 1)), edge.arrow.size = 0.5,
    edge.width = 1 + 3 * pairs$joined, edge.color = grDevices::grey(0.85 * (1 - pairs$joined)),
    edge.label = sprintf("%.2f", pairs$joined), edge.label.color = "black", edge.label.family = "sans",
    vertex.color = "white", vertex.shape = "none", vertex.label.color = "black", vertex.label.family = "sans"
  )
  do.call(igraph::plot.igraph, c(list(graph), utils::modifyList(options, list(...))))
}
