"""The extension as the package `io_idtech`, for modules that import from other packages of it."""

import working_copy

working_copy.load()
