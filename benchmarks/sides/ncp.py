"""One NCP for every tool, of the raw rows of each class: ranges over the domain's range, sets by (leaves − 1) /
(domain − 1), mean over all cells."""


def ncp(frame, groups, numeric, text):
    """`groups`: row positions of each class; every class publishes the hull of its numbers and the set of its texts."""
    total = 0.0
    for rows in groups:
        part = frame.iloc[rows]
        for c in numeric:
            total += len(part) * (part[c].max() - part[c].min()) / (frame[c].max() - frame[c].min())
        for c in text:
            total += len(part) * (part[c].nunique() - 1) / (frame[c].nunique() - 1)
    return total / (len(frame) * (len(numeric) + len(text)))
