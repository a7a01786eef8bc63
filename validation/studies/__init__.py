"""One module for each study: TITLE, SHOWS, ANSWERS and run(context)."""
