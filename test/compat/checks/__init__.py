"""The checks, a module a subject. Each has run(h): h is a harness.Harness."""
