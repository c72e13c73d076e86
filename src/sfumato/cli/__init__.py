"""The command line: one thin file per verb, loaded when it is called."""

REGISTERED = (
    ("demo", "The whole way on an embedded data set: releases, checks, five questions with bounds."),
    ("init", "Profile a table and write sfumato.toml with suggested roles as comments."),
    ("profile", "How identifying each column is, which roles suit it, and why."),
    ("risk", "How likely records are found: three attackers, distribution, columns; of a table or a package."),
    ("advise", "Which parameters of a model a table can meet at all, and what they cost each other."),
    ("hierarchy", "How columns become coarser: levels and their sizes; try, watch and write hierarchies."),
    ("search", "Compare methods and lattice nodes by loss, risk and error; resumes; draws the lattice."),
    ("publish", "Make a release that meets every requirement, verify its bytes, put it in place."),
    ("reapply", "Put new rows into the regions of a package; its promises are judged on both together."),
    ("verify", "Re-check every promise of a package on its bytes; exit 3 if one fails."),
    ("measure", "Losses, workload error, width and coverage of a release against its original."),
    ("query", "Ask a package one SELECT: estimates with hard bounds."),
    ("report", "Write the public report of a package as one HTML page."),
    ("doctor", "What is installed, what is missing, and what the machine allows."),
    ("schema", "JSON schemas of the project file and of everything --json prints."),
    ("completion", "Print the completion script for bash, zsh or fish."),
)
