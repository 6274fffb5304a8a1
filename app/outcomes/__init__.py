"""What a job leaves, as files: for whoever asks over HTTP, and for where results are to go."""
