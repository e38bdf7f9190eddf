# Where Python is found, and how it is called: its errors and warnings become
# those of R, without a traceback. Python starts with the first call that needs
# it, not when the package is loaded.

#' Find, choose or install the Python package
#'
#' The first function that needs Python starts it, as the package reticulate
#' finds it: the environment variable `RETICULATE_PYTHON`, an active virtual
#' environment, or one called `r-reticulate`. Call `use_dagpost()` before that
#' to name another. Python must be 3.11 or newer and come with a shared library;
#' the README of this package says how to tell.
#'
#' @param python The path of a Python program, or of a virtual environment.
#' @param source What pip installs: by default the newest state of the
#'   repository; or the path of a clone or of a wheel.
#' @param envname The name or path of the virtual environment to install into;
#'   it is made if it does not exist.
#' @param ... Further arguments of [reticulate::py_install()].
#' @return `use_dagpost()` and `install_dagpost()` return nothing;
#'   `dagpost_python()` returns the Python module, for what this package does
#'   not wrap.
#' @examples
#' \dontrun{
#' install_dagpost()
#' use_dagpost("~/environments/dagpost")
#' dagpost_python()$`__version__`
#' }
#' @export
use_dagpost <- function(python) {
  if (!is.character(python) || length(python) != 1 || is.na(python)) {
    stop_plainly("'python' must be one path: of a Python program or of a virtual environment.")
  }
  path <- path.expand(python)
  if (dir.exists(path)) {
    inside <- file.path(path, c("bin/python", "Scripts/python.exe"))
    found <- inside[file.exists(inside)]
    if (length(found) == 0) stop_plainly("The folder '", python, "' is not a virtual environment of Python.")
    path <- found[1]
  }
  if (!file.exists(path)) stop_plainly("There is no Python at '", python, "'.")
  if (reticulate::py_available()) {
    running <- reticulate::py_config()$python
    # The programs of two virtual environments are links to the same file.
    if (normalizePath(dirname(running)) != normalizePath(dirname(path))) {
      stop_plainly("R already uses the Python at '", running, "'. Restart R, and call use_dagpost() first.")
    }
  }
  leave_out_system_folders()
  tryCatch(
    reticulate::use_python(path, required = TRUE),
    error = function(problem) {
      stop_plainly(
        "reticulate ", utils::packageVersion("reticulate"), " cannot use the Python at '", python, "'. It may be too ",
        "new for this reticulate, which then needs an update. ", conditionMessage(problem)
      )
    }
  )
  invisible()
}

#' @rdname use_dagpost
#' @export
install_dagpost <- function(source = "dagpost[plot] @ git+https://github.com/dagpost/dagpost",
                            envname = "r-reticulate", ...) {
  if (dir.exists(source)) source <- paste0(normalizePath(source), "[plot]")
  leave_out_system_folders()
  reticulate::py_install(source, envname = envname, pip = TRUE, ...)
  message("Installed. Restart R; where reticulate does not find it by itself, call use_dagpost(\"", envname, "\").")
  invisible()
}

#' @rdname use_dagpost
#' @export
dagpost_python <- function() {
  if (!is.null(state$module)) return(state$module)
  leave_out_system_folders()
  started <- tryCatch(reticulate::py_available(initialize = TRUE), error = function(problem) conditionMessage(problem))
  if (!isTRUE(started)) {
    stop_plainly(
      "Python could not be started", if (is.character(started)) paste0(": ", started) else ".",
      " It must be 3.11 or newer, with a shared library. use_dagpost(\"/path/to/python\") names one."
    )
  }
  state$module <- tryCatch(
    reticulate::import("dagpost", convert = FALSE),
    error = function(problem) stop_plainly(why_not_imported())
  )
  state$module
}

# R puts folders of the system into LD_LIBRARY_PATH, where another Python of the same release may have its library. A
# process that Python starts, to install or to read a Parquet file for example, would load that one instead of its own,
# and fail. The system searches these folders anyway, so nothing is lost without them.
leave_out_system_folders <- function() {
  folders <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), ":", fixed = TRUE)[[1]]
  searched_anyway <- grepl("^(/usr)?/lib(64)?(/[a-z0-9_]+-linux-gnu[a-z0-9]*)?/?$", folders)
  if (!any(searched_anyway)) return(invisible())
  left <- paste(folders[!searched_anyway], collapse = ":")
  Sys.setenv(LD_LIBRARY_PATH = left)
  if (reticulate::py_available()) {
    # It has read the environment when it started.
    reticulate::py_set_item(reticulate::import("os", convert = FALSE)$environ, "LD_LIBRARY_PATH", left)
  }
}

# What was found once in this session of R.
state <- new.env(parent = emptyenv())

why_not_imported <- function() {
  python <- reticulate::py_config()$python
  last <- reticulate::py_last_error()
  if (identical(last$type, "ModuleNotFoundError") && grepl("'dagpost'", last$value, fixed = TRUE)) {
    return(paste0(
      "The Python at '", python, "' does not have the package dagpost. Install it with install_dagpost(), or restart ",
      "R and name the Python that has it: use_dagpost(\"/path/to/python\")."
    ))
  }
  paste0("The Python at '", python, "' cannot load the package dagpost: ", last$type, ": ", last$value)
}

stop_plainly <- function(...) {
  stop(structure(class = c("dagpost_error", "error", "condition"), list(message = paste0(...), call = NULL)))
}

# Run code that calls Python. The code is evaluated in here, when `force` asks
# for it, so that what Python says meanwhile can be collected.
in_python <- function(code) {
  dagpost_python()
  collector <- reticulate::import("warnings", convert = FALSE)$catch_warnings(record = TRUE)
  collected <- collector$`__enter__`()
  # Some releases of reticulate fail here where there is no error yet.
  try(reticulate::py_clear_last_error(), silent = TRUE)
  tryCatch(
    value <- force(code),
    error = function(problem) stop_plainly(readable_error(problem)),
    finally = {
      collector$`__exit__`(NULL, NULL, NULL)
      said <- vapply(reticulate::iterate(collected, identity), function(one) text_of(one$message), "")
      for (text in said) warning(text, call. = FALSE)
    }
  )
  value
}

readable_error <- function(problem) {
  last <- reticulate::py_last_error()
  if (inherits(problem, "dagpost_error") || is.null(last)) return(conditionMessage(problem))
  ours <- c("InputError", "ResourceError", "NoGraphError", "PrecisionError", "DagpostError", "UnfittedError")
  if (last$type %in% ours) last$value else paste0(last$type, ": ", last$value)
}

text_of <- function(object) {
  reticulate::py_to_r(reticulate::import_builtins(convert = FALSE)$str(object))
}
