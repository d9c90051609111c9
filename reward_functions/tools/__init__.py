"""The tools behind `reward`: data sets, calibration, deployed functions, the local AWS emulator."""
