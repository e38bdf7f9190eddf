"""What every station uses: kernels, wide floats, memory, progress, checks and text. Not public."""
