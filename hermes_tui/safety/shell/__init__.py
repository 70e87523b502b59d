"""Reading the shell: text to commands, words to values."""
