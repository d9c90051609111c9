"""What a response says is its answer: total functions, None where nothing is found."""
